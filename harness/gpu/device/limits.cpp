#include "harness/gpu/device/limits.h"

#include "harness/base/text.h"
#include "harness/gpu/gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <stdexcept>

namespace assay::gpu {
namespace {

using Reason = std::optional<std::string>;

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

Reason missing_feature(std::span<const Feature> needs, const DeviceInfo& device) {
  for (const Feature feature : needs) {
    if (!device.has(feature)) {
      return fmt::format("{} is missing", name_of(feature));
    }
  }
  return std::nullopt;
}

Reason beyond(const Dispatch& dispatch, std::string_view what, std::uint64_t asked,
              std::string_view limit_name, std::uint64_t limit) {
  if (asked <= limit) {
    return std::nullopt;
  }
  return fmt::format("dispatch '{}' needs {} {}, {} is {}", dispatch.label, asked, what, limit_name, limit);
}

Reason beyond_workgroup(const Dispatch& dispatch, const DeviceInfo& device) {
  std::uint64_t invocations = 1;
  for (std::size_t i = 0; i < 3; ++i) {
    invocations *= dispatch.local_size[i];
    if (auto reason = beyond(dispatch, "invocations in one dimension of a workgroup", dispatch.local_size[i],
                             fmt::format("maxComputeWorkGroupSize[{}]", i), device.max_workgroup_size[i])) {
      return reason;
    }
    if (auto reason = beyond(dispatch, "workgroups in one dimension", dispatch.workgroups[i],
                             fmt::format("maxComputeWorkGroupCount[{}]", i), device.max_workgroup_count[i])) {
      return reason;
    }
  }
  return beyond(dispatch, "invocations in a workgroup", invocations, "maxComputeWorkGroupInvocations",
                device.max_workgroup_invocations);
}

/// Refuses a subgroup size that no device could provide for such workgroups: a mistake of the op.
void refuse_impossible_subgroups(const Dispatch& dispatch) {
  if (std::has_single_bit(dispatch.subgroup_size) && dispatch.local_size[0] % dispatch.subgroup_size == 0) {
    return;
  }
  throw std::logic_error(
      fmt::format("dispatch '{}' demands subgroups of {} in workgroups of {} along x: the size must be a "
                  "power of two that divides it",
                  dispatch.label, dispatch.subgroup_size, dispatch.local_size[0]));
}

/// Checks a dispatch that demands full subgroups of a given size.
Reason beyond_subgroups(const Dispatch& dispatch, const DeviceInfo& device) {
  const std::uint32_t size = dispatch.subgroup_size;
  if (size == 0) {
    return std::nullopt;
  }
  if (!dispatch.external) refuse_impossible_subgroups(dispatch);
  if (!device.has(Feature::FullSubgroups)) {
    return fmt::format("dispatch '{}' needs full subgroups, {} is missing", dispatch.label,
                       name_of(Feature::FullSubgroups));
  }
  if (size < device.min_subgroup_size || size > device.max_subgroup_size) {
    return fmt::format("dispatch '{}' needs subgroups of {}, the device's sizes are {} to {}", dispatch.label,
                       size, device.min_subgroup_size, device.max_subgroup_size);
  }
  const auto [x, y, z] = dispatch.local_size;
  return beyond(dispatch, fmt::format("subgroups of {} in a workgroup", size),
                std::uint64_t{x} * y * z / size, "maxComputeWorkgroupSubgroups",
                device.max_workgroup_subgroups);
}

Reason beyond_bindings(const Dispatch& dispatch, const Program& program, std::span<const Physical> tensors,
                       const DeviceInfo& device) {
  std::uint64_t images = 0;
  std::uint64_t sampled = 0;
  for (const Binding& binding : dispatch.bindings) {
    if (binding.is_sampled()) {
      ++sampled;
    } else if (is_texture(form_of(program, tensors, binding.resource))) {
      ++images;
    }
  }
  if (auto reason = beyond(dispatch, "storage images", images, "maxPerStageDescriptorStorageImages",
                           device.max_storage_images_per_stage)) {
    return reason;
  }
  if (auto reason = beyond(dispatch, "textures read through samplers", sampled,
                           "the least of maxPerStageDescriptorSampledImages and ...Samplers",
                           device.max_sampled_images_per_stage)) {
    return reason;
  }
  return beyond(dispatch, "storage buffers", dispatch.bindings.size() - images - sampled,
                "maxPerStageDescriptorStorageBuffers", device.max_storage_buffers_per_stage);
}

/// Checks a dispatch that reads textures through samplers: the device must be able to sample them.
Reason cannot_sample(const Dispatch& dispatch, const Program& program, std::span<const Physical> tensors,
                     const DeviceInfo& device) {
  for (const Binding& binding : dispatch.bindings) {
    if (!binding.is_sampled()) {
      continue;
    }
    const Form form = form_of(program, tensors, binding.resource);
    if (!is_texture(form)) {
      throw std::logic_error(fmt::format("dispatch '{}' reads {} through a sampler, which is for textures",
                                         dispatch.label, to_string(form)));
    }
    const DType dtype = dtype_of(program, tensors, binding.resource);
    const TextureSupport* support = device.texture(form.storage, dtype);
    if (support != nullptr && !support->sampled) {
      return fmt::format(
          "dispatch '{}' reads a texture of {} through a sampler, which the device cannot in {}",
          dispatch.label, texel_name(dtype), form.storage == Storage::Texture3D ? "3D" : "2D");
    }
  }
  return std::nullopt;
}

Reason beyond_interface(const Dispatch& dispatch, const DeviceInfo& device) {
  if (auto reason = beyond(dispatch, "bytes of shared memory", dispatch.shared_bytes,
                           "maxComputeSharedMemorySize", device.max_shared_bytes)) {
    return reason;
  }
  return beyond(dispatch, "bytes of push constants", dispatch.push.words().size() * sizeof(std::uint32_t),
                "maxPushConstantsSize", device.max_push_constant_bytes);
}

Reason cannot_hold(const std::string& name, const Physical& physical, std::uint32_t guard,
                   const DeviceInfo& device) {
  if (is_texture(physical.form())) {
    return beyond_texture(name, physical, device);
  }
  const std::uint64_t bytes = static_cast<std::uint64_t>(physical.bytes()) + 2 * std::uint64_t{guard};
  if (bytes > device.max_storage_buffer_range) {
    return fmt::format("buffer '{}' needs {} bytes, {} of them guards, maxStorageBufferRange is {}", name,
                       bytes, 2 * guard, device.max_storage_buffer_range);
  }
  return std::nullopt;
}

Reason cannot_hold_all(const Program& program, std::span<const Physical> tensors, std::uint32_t guard,
                       const DeviceInfo& device, std::span<const std::string> names) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const std::string name = i < names.size() ? names[i] : fmt::format("tensor {}", i);
    if (auto reason = cannot_hold(name, tensors[i], guard, device)) {
      return reason;
    }
  }
  for (const Resource resource : scratch_with_memory(program)) {
    const Scratch& scratch = program.scratch[resource.index];
    const Physical physical(scratch.form, scratch.dtype, scratch.shape);
    if (auto reason = cannot_hold(scratch.name, physical, guard, device)) {
      return reason;
    }
  }
  return std::nullopt;
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

DType dtype_of(const Program& program, std::span<const Physical> tensors, Resource resource) {
  form_of(program, tensors, resource);  // throws if there is none
  const bool is_tensor = resource.kind == Resource::Kind::Tensor;
  return is_tensor ? tensors[resource.index].dtype() : program.scratch[resource.index].dtype;
}

Form form_of(const Program& program, std::span<const Physical> tensors, Resource resource) {
  const bool is_tensor = resource.kind == Resource::Kind::Tensor;
  const std::size_t count = is_tensor ? tensors.size() : program.scratch.size();
  if (resource.index >= count) {
    throw std::logic_error(fmt::format("a dispatch binds {} {}, the program has {}",
                                       is_tensor ? "tensor" : "scratch", resource.index, count));
  }
  return is_tensor ? tensors[resource.index].form() : program.scratch[resource.index].form;
}

std::optional<std::string> beyond_texture(const std::string& name, const Physical& physical,
                                          const DeviceInfo& device) {
  const Storage storage = physical.form().storage;
  const bool is_3d = storage == Storage::Texture3D;
  const std::uint32_t limit = is_3d ? device.max_image_3d : device.max_image_2d;
  const std::string needs = fmt::format("{} as {} needs", name, to_string(physical.form()));
  const TextureSupport* support = device.texture(storage, physical.dtype());
  for (std::size_t i = 0; i < 3; ++i) {
    const std::uint32_t texels = physical.extent()[i];
    if (texels > limit) {
      return fmt::format("{} {} texels in {}; maxImageDimension{} is {}", needs, texels, "xyz"[i],
                         is_3d ? "3D" : "2D", limit);
    }
    if (support != nullptr && texels > support->max_extent[i]) {
      return fmt::format("{} {} texels in {}; the device has at most {} of {} there", needs, texels, "xyz"[i],
                         support -> max_extent[i], texel_name(physical.dtype()));
    }
  }
  if (support == nullptr) {
    return fmt::format("{} storage images of {} that can be copied, which the device does not have in {}",
                       needs, texel_name(physical.dtype()), is_3d ? "3D" : "2D");
  }
  const auto bytes = static_cast<std::uint64_t>(physical.bytes());
  if (bytes > support->max_bytes) {
    return fmt::format("{} {}; maxResourceSize is {}", needs, bytes_text(bytes),
                       bytes_text(support->max_bytes));
  }
  return std::nullopt;
}

std::optional<std::string> beyond_limits(const Program& program, std::span<const Physical> tensors,
                                         const DeviceInfo& device) {
  for (const Dispatch& dispatch : program.dispatches) {
    if (auto reason = beyond_workgroup(dispatch, device)) {
      return reason;
    }
    if (auto reason = beyond_subgroups(dispatch, device)) {
      return reason;
    }
    if (auto reason = beyond_interface(dispatch, device)) {
      return reason;
    }
    if (auto reason = beyond_bindings(dispatch, program, tensors, device)) {
      return reason;
    }
    if (auto reason = cannot_sample(dispatch, program, tensors, device)) {
      return reason;
    }
  }
  return std::nullopt;
}

std::optional<std::string> unsupported(const Program& program, std::span<const Physical> tensors,
                                       std::span<const Feature> needs, const DeviceInfo& device,
                                       std::uint32_t guard, std::span<const std::string> names) {
  if (auto reason = missing_feature(needs, device)) {
    return reason;
  }
  if (auto reason = beyond_limits(program, tensors, device)) {
    return reason;
  }
  return cannot_hold_all(program, tensors, guard, device, names);
}

}  // namespace assay::gpu
