#include "harness/gpu/memory/staging.h"

#include "harness/base/parallel.h"
#include "harness/gpu/commands/barrier.h"
#include "harness/gpu/commands/submission.h"
#include "harness/gpu/memory/image.h"
#include "harness/gpu/memory/memory.h"

#include <algorithm>

namespace assay::gpu {
namespace {

/// A copy of 64 MiB takes milliseconds; one that takes this long hangs.
constexpr double staging_timeout_s = 60;

constexpr VkImageSubresourceLayers whole_layers_of{
    .aspectMask = VK_IMAGE_ASPECT_COLOR_BIT, .mipLevel = 0, .baseArrayLayer = 0, .layerCount = 1};

VkBufferImageCopy copy_of(const Box& box) {
  return {.bufferOffset = 0,
          .bufferRowLength = 0,  // as wide and high as the box
          .bufferImageHeight = 0,
          .imageSubresource = whole_layers_of,
          .imageOffset = box.offset,
          .imageExtent = box.extent};
}

}  // namespace

std::uint64_t Box::texels() const {
  return std::uint64_t{extent.width} * extent.height * extent.depth;
}

Box box_at(const VkExtent3D& image, std::uint64_t first, std::uint64_t most) {
  const std::uint64_t row = image.width;
  const std::uint64_t slice = row * image.height;
  const std::uint64_t x = first % row;
  const std::uint64_t y = first % slice / row;
  const std::uint64_t z = first / slice;
  Box box{
      .offset = {static_cast<std::int32_t>(x), static_cast<std::int32_t>(y), static_cast<std::int32_t>(z)},
      .extent = {image.width, 1, 1}};
  if (x != 0 || most < row) {
    box.extent.width = static_cast<std::uint32_t>(std::min(most, row - x));
  } else if (y != 0 || most < slice) {
    box.extent.height = static_cast<std::uint32_t>(std::min(most / row, image.height - y));
  } else {
    box.extent.height = image.height;
    box.extent.depth = static_cast<std::uint32_t>(std::min(most / slice, image.depth - z));
  }
  return box;
}

struct Staging::Area {
  Buffer buffer;
  MemoryBlock block;
};

Staging::Staging(Device::State& device, std::uint64_t chunk) : device_(device), chunk_(chunk) {}
Staging::~Staging() = default;

Staging& staging_of(Device::State& device) {
  if (device.staging == nullptr) device.staging = std::make_unique<Staging>(device);
  return static_cast<Staging&>(*device.staging);
}

Staging::Area& Staging::area(std::uint64_t wanted) {
  if (area_ == nullptr || area_->buffer.bytes < wanted) {
    area_.reset();
    Buffer buffer = create_buffer(device_, "staging", wanted);
    const VkMemoryRequirements needs = requirements(device_, buffer);
    MemoryBlock block(device_, needs.size, staging_memory_type(device_.physical.memory, needs.memoryTypeBits),
                      "staging");
    area_ = std::make_unique<Area>(Area{std::move(buffer), std::move(block)});
    bind(device_, area_->buffer, area_->block, 0);
  }
  return *area_;
}

std::uint64_t Staging::room(std::uint64_t left) const {
  return std::min(left, chunk_);
}

void Staging::run(VkBuffer staging, const Copy& copy) {
  Submission submission(device_, "copying between host and device");
  barrier(device_.table, submission.commands(), Scope::Anything, Scope::Transfer);
  copy(submission.commands(), staging);
  barrier(device_.table, submission.commands(), Scope::Transfer, Scope::Host);
  submission.submit_and_wait(staging_timeout_s);
}

void Staging::send(std::span<const std::byte> piece, const Copy& copy) {
  Area& staging = area(piece.size());
  copy_bytes({staging.block.mapped(), piece.size()}, piece);
  staging.block.flush(0, piece.size());
  run(staging.buffer.handle.get(), copy);
}

void Staging::receive(std::span<std::byte> piece, const Copy& copy) {
  Area& staging = area(piece.size());
  run(staging.buffer.handle.get(), copy);
  staging.block.invalidate(0, piece.size());
  copy_bytes(piece, {staging.block.mapped(), piece.size()});
}

void Staging::upload(const Buffer& to, std::span<const std::byte> bytes) {
  for (std::uint64_t done = 0; done < bytes.size();) {
    const auto piece = bytes.subspan(done, room(bytes.size() - done));
    send(piece, [&](VkCommandBuffer commands, VkBuffer staging) {
      const VkBufferCopy region{.srcOffset = 0, .dstOffset = done, .size = piece.size()};
      device_.table.vk.vkCmdCopyBuffer(commands, staging, to.handle.get(), 1, &region);
    });
    done += piece.size();
  }
}

void Staging::download(const Buffer& from, std::span<std::byte> bytes, std::uint64_t offset) {
  for (std::uint64_t done = 0; done < bytes.size();) {
    const auto piece = bytes.subspan(done, room(bytes.size() - done));
    receive(piece, [&](VkCommandBuffer commands, VkBuffer staging) {
      const VkBufferCopy region{.srcOffset = offset + done, .dstOffset = 0, .size = piece.size()};
      device_.table.vk.vkCmdCopyBuffer(commands, from.handle.get(), staging, 1, &region);
    });
    done += piece.size();
  }
}

void Staging::upload(const Image& to, std::span<const std::byte> bytes) {
  for (std::uint64_t done = 0; done < bytes.size();) {
    const Box box = box_at(to.extent, done / to.texel_bytes, room(bytes.size() - done) / to.texel_bytes);
    const auto piece = bytes.subspan(done, box.texels() * to.texel_bytes);
    send(piece, [&](VkCommandBuffer commands, VkBuffer staging) {
      const VkBufferImageCopy region = copy_of(box);
      device_.table.vk.vkCmdCopyBufferToImage(commands, staging, to.handle.get(), VK_IMAGE_LAYOUT_GENERAL, 1,
                                              &region);
    });
    done += piece.size();
  }
}

void Staging::download(const Image& from, std::span<std::byte> bytes) {
  for (std::uint64_t done = 0; done < bytes.size();) {
    const Box box =
        box_at(from.extent, done / from.texel_bytes, room(bytes.size() - done) / from.texel_bytes);
    const auto piece = bytes.subspan(done, box.texels() * from.texel_bytes);
    receive(piece, [&](VkCommandBuffer commands, VkBuffer staging) {
      const VkBufferImageCopy region = copy_of(box);
      device_.table.vk.vkCmdCopyImageToBuffer(commands, from.handle.get(), VK_IMAGE_LAYOUT_GENERAL, staging,
                                              1, &region);
    });
    done += piece.size();
  }
}

}  // namespace assay::gpu
