#include "harness/gpu/device/texture_formats.h"

#include <fmt/format.h>

#include <optional>
#include <stdexcept>

namespace assay::gpu {
namespace {

constexpr VkFormatFeatureFlags image_features = VK_FORMAT_FEATURE_STORAGE_IMAGE_BIT |
                                                VK_FORMAT_FEATURE_TRANSFER_SRC_BIT |
                                                VK_FORMAT_FEATURE_TRANSFER_DST_BIT;

std::optional<TextureSupport> support(VkPhysicalDevice device, Storage storage, DType dtype) {
  VkFormatProperties format{};
  vkGetPhysicalDeviceFormatProperties(device, texel_format(dtype), &format);
  if ((format.optimalTilingFeatures & image_features) != image_features) {
    return std::nullopt;
  }
  const bool sampled = (format.optimalTilingFeatures & VK_FORMAT_FEATURE_SAMPLED_IMAGE_BIT) != 0;
  VkImageFormatProperties limits{};
  const VkResult result =
      vkGetPhysicalDeviceImageFormatProperties(device, texel_format(dtype), image_type(storage),
                                               VK_IMAGE_TILING_OPTIMAL, image_usage(sampled), 0, &limits);
  if (result == VK_ERROR_FORMAT_NOT_SUPPORTED) {
    return std::nullopt;
  }
  check(result, fmt::format("asking for the limits of {} textures of {}", name_of(storage), name_of(dtype)));
  const VkExtent3D& extent = limits.maxExtent;
  return TextureSupport{.storage = storage,
                        .dtype = dtype,
                        .max_extent = {extent.width, extent.height, extent.depth},
                        .max_bytes = limits.maxResourceSize,
                        .sampled = sampled};
}

}  // namespace

VkImageType image_type(Storage storage) {
  return storage == Storage::Texture3D ? VK_IMAGE_TYPE_3D : VK_IMAGE_TYPE_2D;
}

VkImageUsageFlags image_usage(bool sampled) {
  constexpr VkImageUsageFlags always =
      VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT;
  return sampled ? always | VK_IMAGE_USAGE_SAMPLED_BIT : always;
}

VkFormat texel_format(DType dtype) {
  switch (dtype) {
    case DType::F32:
      return VK_FORMAT_R32G32B32A32_SFLOAT;
    case DType::F16:
      return VK_FORMAT_R16G16B16A16_SFLOAT;
    case DType::I32:
      return VK_FORMAT_R32G32B32A32_SINT;
    case DType::I16:
      return VK_FORMAT_R16G16B16A16_SINT;
    case DType::I8:
      return VK_FORMAT_R8G8B8A8_SINT;
    case DType::U8:
      return VK_FORMAT_R8G8B8A8_UINT;
    default:
      throw std::logic_error(fmt::format("texel_format: {} exists on the host only", name_of(dtype)));
  }
}

std::vector<TextureSupport> supported_textures(VkPhysicalDevice device) {
  std::vector<TextureSupport> found;
  for (const Storage storage : {Storage::Texture3D, Storage::Texture2D}) {
    for (const DType dtype : {DType::F32, DType::F16, DType::I32, DType::I16, DType::I8, DType::U8}) {
      if (const auto one = support(device, storage, dtype)) {
        found.push_back(*one);
      }
    }
  }
  return found;
}

}  // namespace assay::gpu
