#include "harness/gpu/memory/image.h"

#include "harness/gpu/device/limits.h"
#include "harness/gpu/program/submission.h"

#include <fmt/format.h>

#include <array>
#include <stdexcept>

namespace assay::gpu {
namespace {

/// A layout transition takes next to no time; one that takes this long hangs.
constexpr double layout_timeout_s = 60;

VkImageUsageFlags usage_of(bool sampled) {
  constexpr VkImageUsageFlags always =
      VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT;
  return sampled ? always | VK_IMAGE_USAGE_SAMPLED_BIT : always;
}

constexpr VkFormatFeatureFlags features = VK_FORMAT_FEATURE_STORAGE_IMAGE_BIT |
                                          VK_FORMAT_FEATURE_TRANSFER_SRC_BIT |
                                          VK_FORMAT_FEATURE_TRANSFER_DST_BIT;

VkImageType image_type(Storage storage) {
  return storage == Storage::Texture3D ? VK_IMAGE_TYPE_3D : VK_IMAGE_TYPE_2D;
}

std::optional<TextureSupport> support(VkPhysicalDevice device, Storage storage, DType dtype) {
  VkFormatProperties format{};
  vkGetPhysicalDeviceFormatProperties(device, texel_format(dtype), &format);
  if ((format.optimalTilingFeatures & features) != features) {
    return std::nullopt;
  }
  const bool sampled = (format.optimalTilingFeatures & VK_FORMAT_FEATURE_SAMPLED_IMAGE_BIT) != 0;
  VkImageFormatProperties limits{};
  const VkResult result =
      vkGetPhysicalDeviceImageFormatProperties(device, texel_format(dtype), image_type(storage),
                                               VK_IMAGE_TILING_OPTIMAL, usage_of(sampled), 0, &limits);
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

VkImageMemoryBarrier to_general(const Image& image) {
  VkImageMemoryBarrier barrier{VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER};
  barrier.srcAccessMask = 0;
  barrier.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
  barrier.oldLayout = VK_IMAGE_LAYOUT_UNDEFINED;
  barrier.newLayout = VK_IMAGE_LAYOUT_GENERAL;
  barrier.srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
  barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
  barrier.image = image.handle.get();
  barrier.subresourceRange = whole_image;
  return barrier;
}

VkImageCreateInfo create_info(const Physical& physical, const DeviceInfo& device) {
  const auto [x, y, z] = physical.extent();
  VkImageCreateInfo info{VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
  info.imageType = image_type(physical.form().storage);
  info.format = texel_format(physical.dtype());
  info.extent = {.width = x, .height = y, .depth = z};
  info.mipLevels = 1;
  info.arrayLayers = 1;
  info.samples = VK_SAMPLE_COUNT_1_BIT;
  info.tiling = VK_IMAGE_TILING_OPTIMAL;
  info.usage = usage_of(device.texture(physical.form().storage, physical.dtype())->sampled);
  info.sharingMode = VK_SHARING_MODE_EXCLUSIVE;
  info.initialLayout = VK_IMAGE_LAYOUT_UNDEFINED;
  return info;
}

}  // namespace

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

Image create_image(Device::State& device, std::string name, const Physical& physical) {
  const std::string doing = fmt::format("creating the image of {} on '{}'", name, device.info().name);
  if (const auto reason = beyond_texture(name, physical, device.info())) {
    throw Error(fmt::format("{}: {}", doing, *reason));
  }
  const VkImageCreateInfo info = create_info(physical, device.info());
  VkImage handle = VK_NULL_HANDLE;
  check(device.table.vk.vkCreateImage(device.table.device, &info, nullptr, &handle), doing);
  Image image;
  image.name = std::move(name);
  image.bytes = static_cast<std::uint64_t>(physical.bytes());
  image.texel_bytes = 4 * size_of(physical.dtype());
  image.extent = info.extent;
  image.format = info.format;
  image.view_type = info.imageType == VK_IMAGE_TYPE_3D ? VK_IMAGE_VIEW_TYPE_3D : VK_IMAGE_VIEW_TYPE_2D;
  image.handle = {device.table, handle, device.table.vk.vkDestroyImage};
  device.name(VK_OBJECT_TYPE_IMAGE, object_id(handle), image.name);
  return image;
}

VkMemoryRequirements requirements(const Device::State& device, const Image& image) {
  VkMemoryRequirements needs{};
  device.table.vk.vkGetImageMemoryRequirements(device.table.device, image.handle.get(), &needs);
  return needs;
}

void bind(const Device::State& device, Image& image, const MemoryBlock& block, std::uint64_t offset) {
  const DeviceTable& table = device.table;
  check(table.vk.vkBindImageMemory(table.device, image.handle.get(), block.handle(), offset),
        fmt::format("binding the image of {}", image.name));
  image.block = &block;
  VkImageViewCreateInfo info{VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO};
  info.image = image.handle.get();
  info.viewType = image.view_type;
  info.format = image.format;
  info.subresourceRange = whole_image;
  VkImageView view = VK_NULL_HANDLE;
  check(table.vk.vkCreateImageView(table.device, &info, nullptr, &view),
        fmt::format("creating the view of {}", image.name));
  image.view = {table, view, table.vk.vkDestroyImageView};
}

VkSampler nearest_sampler(Device::State& device) {
  if (!device.sampler) {
    VkSamplerCreateInfo info{VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO};
    info.magFilter = VK_FILTER_NEAREST;
    info.minFilter = VK_FILTER_NEAREST;
    info.mipmapMode = VK_SAMPLER_MIPMAP_MODE_NEAREST;
    info.addressModeU = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE;
    info.addressModeV = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE;
    info.addressModeW = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE;
    VkSampler sampler = VK_NULL_HANDLE;
    check(device.table.vk.vkCreateSampler(device.table.device, &info, nullptr, &sampler),
          "creating the sampler of textures");
    device.sampler = {device.table, sampler, device.table.vk.vkDestroySampler};
  }
  return device.sampler.get();
}

void prepare_images(Device::State& device, std::span<const Image* const> images) {
  if (images.empty()) {
    return;
  }
  std::vector<VkImageMemoryBarrier> barriers;
  for (const Image* image : images) {
    barriers.push_back(to_general(*image));
  }
  Submission submission(device, "preparing textures");
  device.table.vk.vkCmdPipelineBarrier(submission.commands(), VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT,
                                       VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, nullptr, 0, nullptr,
                                       static_cast<std::uint32_t>(barriers.size()), barriers.data());
  submission.submit_and_wait(layout_timeout_s);
}

}  // namespace assay::gpu
