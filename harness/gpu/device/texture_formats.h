#pragma once

#include "harness/gpu/device/vk.h"

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

}  // namespace assay::gpu
