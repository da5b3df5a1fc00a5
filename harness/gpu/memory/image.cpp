#include "harness/gpu/memory/image.h"

#include "harness/gpu/commands/submission.h"
#include "harness/gpu/device/limits.h"
#include "harness/gpu/device/texture_formats.h"

#include <fmt/format.h>

#include <array>
#include <stdexcept>

namespace assay::gpu {
namespace {

/// A layout transition takes next to no time; one that takes this long hangs.
constexpr double layout_timeout_s = 60;

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
  info.usage = image_usage(device.texture(physical.form().storage, physical.dtype())->sampled);
  info.sharingMode = VK_SHARING_MODE_EXCLUSIVE;
  info.initialLayout = VK_IMAGE_LAYOUT_UNDEFINED;
  return info;
}

}  // namespace

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
