#pragma once

#include "harness/device/device_info.h"
#include "harness/gpu/device/vk.h"
#include "harness/op/program.h"
#include "harness/tensor/form.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay::gpu {

/// The format whose texel is four lanes of `dtype`. Throws std::logic_error for a dtype that exists on the
/// host only.
VkFormat texel_format(DType dtype);

/// The textures that `device` supports as storage images and as source and target of copies, and which of
/// them it can also sample.
std::vector<TextureSupport> supported_textures(VkPhysicalDevice device);

/// What the images of tensors are created with: type, and usage, which includes sampling if the device can.
VkImageType image_type(Storage storage);
VkImageUsageFlags image_usage(bool sampled);

/// The part of unsupported() that depends only on the dispatches and the forms of their bindings: workgroups,
/// shared memory, push constants, number of bindings.
std::optional<std::string> beyond_limits(const Program& program, std::span<const Physical> tensors,
                                         const DeviceInfo& device);

/// The part of unsupported() that depends only on one tensor in texture storage: extents, format, size.
std::optional<std::string> beyond_texture(const std::string& name, const Physical& physical,
                                          const DeviceInfo& device);

/// The form of a resource of the program. Throws std::logic_error for a resource that the program does not
/// have.
Form form_of(const Program& program, std::span<const Physical> tensors, Resource resource);
/// The dtype of a resource of the program. Throws std::logic_error as form_of() does.
DType dtype_of(const Program& program, std::span<const Physical> tensors, Resource resource);

}  // namespace assay::gpu
