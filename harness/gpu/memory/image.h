#pragma once

#include "harness/gpu/memory/memory.h"

namespace assay::gpu {

/// A texture and the memory block it is bound to. Its image layout is GENERAL from prepare_images() on.
struct Image {
  std::string name;
  std::uint64_t bytes = 0;        ///< of all texels, as read and written
  std::uint64_t texel_bytes = 0;  ///< of one texel: four lanes
  VkExtent3D extent{};
  VkFormat format = VK_FORMAT_UNDEFINED;
  VkImageViewType view_type = VK_IMAGE_VIEW_TYPE_3D;
  Handle<VkImage> handle;
  Handle<VkImageView> view;            ///< null until it is bound
  const MemoryBlock* block = nullptr;  ///< null until it is bound
};

/// The whole of an image: it has one mip level and one array layer.
inline constexpr VkImageSubresourceRange whole_image{.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT,
                                                     .baseMipLevel = 0,
                                                     .levelCount = 1,
                                                     .baseArrayLayer = 0,
                                                     .layerCount = 1};

/// Creates a storage and transfer image for a texture form, without memory; shaders may sample it if the
/// device can. Throws Error when the device has no such textures.
Image create_image(Device::State& device, std::string name, const Physical& physical);
VkMemoryRequirements requirements(const Device::State& device, const Image& image);
void bind(const Device::State& device, Image& image, const MemoryBlock& block, std::uint64_t offset);

/// The sampler of all bindings with access Sampled: nearest texel, clamped to the edge, coordinates from 0 to
/// 1. The device makes it when it is first needed, and keeps it.
VkSampler nearest_sampler(Device::State& device);

/// Brings bound images into the layout GENERAL, in which they stay. Their texels are undefined.
void prepare_images(Device::State& device, std::span<const Image* const> images);

}  // namespace assay::gpu
