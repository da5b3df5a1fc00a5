#include "harness/gpu/memory/memory.h"

#include "harness/base/parallel.h"
#include "harness/base/text.h"
#include "harness/gpu/commands/submission.h"
#include "harness/gpu/device/limits.h"
#include "harness/gpu/memory/kept_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <stdexcept>

namespace assay::gpu {
namespace {

constexpr VkMemoryPropertyFlags local = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
constexpr VkMemoryPropertyFlags visible = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT;
constexpr VkMemoryPropertyFlags cached = VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
constexpr VkMemoryPropertyFlags coherent = VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;

/// Memory with these properties is never used: it may be lazily allocated, protected, or slow.
constexpr VkMemoryPropertyFlags never =
    VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT | VK_MEMORY_PROPERTY_PROTECTED_BIT |
    VK_MEMORY_PROPERTY_DEVICE_COHERENT_BIT_AMD | VK_MEMORY_PROPERTY_DEVICE_UNCACHED_BIT_AMD;

/// Properties that a memory type must and must not have.
struct Wish {
  VkMemoryPropertyFlags with = 0;
  VkMemoryPropertyFlags without = 0;
};

std::uint32_t first_type(const VkPhysicalDeviceMemoryProperties& memory, std::uint32_t allowed,
                         std::span<const Wish> wishes) {
  for (const Wish wish : wishes) {
    for (std::uint32_t i = 0; i < memory.memoryTypeCount; ++i) {
      const VkMemoryPropertyFlags flags = memory.memoryTypes[i].propertyFlags;
      if ((allowed >> i & 1U) && (flags & wish.with) == wish.with && !(flags & (wish.without | never))) {
        return i;
      }
    }
  }
  throw Error("choosing device memory: the driver offers no memory type for storage buffers or images",
              ExitCode::Infrastructure);
}

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

/// A copy of 64 MiB takes milliseconds; one that takes this long hangs.
constexpr double staging_timeout_s = 60;

constexpr const char* copying_with_host = "copying between host and device";

VkBufferImageCopy copy_of(const Box& box) {
  return {.bufferOffset = 0,
          .bufferRowLength = 0,  // as wide and high as the box
          .bufferImageHeight = 0,
          .imageSubresource = whole_layers,
          .imageOffset = box.offset,
          .imageExtent = box.extent};
}

}  // namespace

std::uint32_t tensor_memory_type(const VkPhysicalDeviceMemoryProperties& memory, std::uint32_t allowed) {
  // Device-local memory that is host-visible but not cached comes last: it may be a window of 256 MiB.
  return first_type(memory, allowed,
                    std::array<Wish, 5>{{{.with = local | visible | cached | coherent},
                                         {.with = local | visible | cached},
                                         {.with = local, .without = visible},
                                         {.with = local},
                                         {}}});
}

std::uint32_t staging_memory_type(const VkPhysicalDeviceMemoryProperties& memory, std::uint32_t allowed) {
  return first_type(
      memory, allowed,
      std::array<Wish, 3>{
          {{.with = visible | cached | coherent}, {.with = visible | cached}, {.with = visible}}});
}

std::uint32_t uniform_memory_type(const VkPhysicalDeviceMemoryProperties& memory, std::uint32_t allowed) {
  return first_type(
      memory, allowed,
      std::array<Wish, 3>{
          {{.with = local | visible | coherent}, {.with = visible | coherent}, {.with = visible}}});
}

namespace {

bool is_out_of_memory(VkResult result) {
  return result == VK_ERROR_OUT_OF_DEVICE_MEMORY || result == VK_ERROR_OUT_OF_HOST_MEMORY ||
         result == VK_ERROR_TOO_MANY_OBJECTS;
}

/// Asks for memory, again without what the pool keeps if there is too little. Another thread may just have
/// emptied the pool.
VkResult in_two_attempts(Device::State& device, const std::function<VkResult()>& ask) {
  const VkResult first = ask();
  if (!is_out_of_memory(first)) return first;
  free_kept_memory(device);
  return ask();
}

}  // namespace

MemoryBlock::MemoryBlock(Device::State& device, std::uint64_t bytes, std::uint32_t type,
                         std::string_view what)
    : device_(&device), bytes_(bytes) {
  const PhysicalDevice& physical = device.physical;
  const VkMemoryType& kind = physical.memory.memoryTypes[type];
  const std::uint64_t heap = physical.memory.memoryHeaps[kind.heapIndex].size;
  properties_ = kind.propertyFlags;
  const std::string doing = fmt::format("allocating {} for {} on '{}' (its heap has {})", bytes_text(bytes),
                                        what, device.info().name, bytes_text(heap));
  if (device.allocations >= physical.max_allocations) free_kept_memory(device);
  if (device.allocations >= physical.max_allocations) {
    throw OutOfMemory(fmt::format("{}: maxMemoryAllocationCount is {}", doing, physical.max_allocations));
  }
  VkMemoryAllocateInfo info{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
  info.allocationSize = bytes;
  info.memoryTypeIndex = type;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  const auto& vk = device.table.vk;
  const VkDevice handle = device.table.device;
  check(in_two_attempts(device, [&] { return vk.vkAllocateMemory(handle, &info, nullptr, &memory); }), doing);
  memory_ = {device.table, memory, device.table.vk.vkFreeMemory};
  if (kind.propertyFlags & visible) {
    void* pointer = nullptr;
    check(in_two_attempts(device,
                          [&] { return vk.vkMapMemory(handle, memory, 0, VK_WHOLE_SIZE, 0, &pointer); }),
          doing + ": mapping it");
    mapped_ = static_cast<std::byte*>(pointer);
  }
  ++device.allocations;
}

MemoryBlock::MemoryBlock(MemoryBlock&& other) noexcept
    : device_(std::exchange(other.device_, nullptr)),
      bytes_(other.bytes_),
      properties_(other.properties_),
      memory_(std::move(other.memory_)),
      mapped_(other.mapped_) {}

MemoryBlock::~MemoryBlock() {
  if (device_ != nullptr) {
    --device_->allocations;
  }
}

/// The range widened to multiples of nonCoherentAtomSize, as the specification demands.
VkMappedMemoryRange MemoryBlock::range(std::uint64_t offset, std::uint64_t size) const {
  const std::uint64_t atom = device_->physical.non_coherent_atom;
  const std::uint64_t begin = offset / atom * atom;
  const std::uint64_t end = (offset + size + atom - 1) / atom * atom;
  VkMappedMemoryRange range{VK_STRUCTURE_TYPE_MAPPED_MEMORY_RANGE};
  range.memory = memory_.get();
  range.offset = begin;
  range.size = end >= bytes_ ? VK_WHOLE_SIZE : end - begin;
  return range;
}

void MemoryBlock::flush(std::uint64_t offset, std::uint64_t size) const {
  if (!(properties_ & coherent)) {
    const VkMappedMemoryRange written = range(offset, size);
    check(device_->table.vk.vkFlushMappedMemoryRanges(device_->table.device, 1, &written),
          "flushing mapped memory");
  }
}

void MemoryBlock::invalidate(std::uint64_t offset, std::uint64_t size) const {
  if (!(properties_ & coherent)) {
    const VkMappedMemoryRange read = range(offset, size);
    check(device_->table.vk.vkInvalidateMappedMemoryRanges(device_->table.device, 1, &read),
          "invalidating mapped memory");
  }
}

Buffer create_buffer(Device::State& device, std::string name, std::uint64_t bytes, BufferUse use) {
  if (bytes > device.physical.max_buffer_bytes) {
    throw OutOfMemory(fmt::format("creating the buffer of {} ({}) on '{}': maxBufferSize is {}", name,
                                  bytes_text(bytes), device.info().name,
                                  bytes_text(device.physical.max_buffer_bytes)));
  }
  VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  info.size = bytes;
  info.usage =
      VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
      (use == BufferUse::Uniform ? VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT : VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
  VkBuffer handle = VK_NULL_HANDLE;
  check(device.table.vk.vkCreateBuffer(device.table.device, &info, nullptr, &handle),
        fmt::format("creating the buffer of {} ({}) on '{}'", name, bytes_text(bytes), device.info().name));
  Buffer buffer;
  buffer.name = std::move(name);
  buffer.bytes = bytes;
  buffer.handle = {device.table, handle, device.table.vk.vkDestroyBuffer};
  device.name(VK_OBJECT_TYPE_BUFFER, object_id(handle), buffer.name);
  return buffer;
}

VkMemoryRequirements requirements(const Device::State& device, const Buffer& buffer) {
  VkMemoryRequirements needs{};
  device.table.vk.vkGetBufferMemoryRequirements(device.table.device, buffer.handle.get(), &needs);
  return needs;
}

void bind(const Device::State& device, Buffer& buffer, const MemoryBlock& block, std::uint64_t offset) {
  check(device.table.vk.vkBindBufferMemory(device.table.device, buffer.handle.get(), block.handle(), offset),
        fmt::format("binding the buffer of {}", buffer.name));
  buffer.block = &block;
  buffer.offset = offset;
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

bool copies_through_buffer(const Image& image) {
  constexpr std::uint32_t most_slices = 2048;
  return image.extent.depth > most_slices;
}

void record_copy(const DeviceTable& table, VkCommandBuffer commands, const Image& from, const Image& to) {
  const VkImageCopy region{
      .srcSubresource = whole_layers, .dstSubresource = whole_layers, .extent = from.extent};
  table.vk.vkCmdCopyImage(commands, from.handle.get(), VK_IMAGE_LAYOUT_GENERAL, to.handle.get(),
                          VK_IMAGE_LAYOUT_GENERAL, 1, &region);
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

void Staging::run(VkBuffer staging, const char* doing, const Copy& copy) {
  Submission submission(device_, doing);
  barrier(device_.table, submission.commands(), Scope::Anything, Scope::Transfer);
  copy(submission.commands(), staging);
  barrier(device_.table, submission.commands(), Scope::Transfer, Scope::Host);
  submission.submit_and_wait(staging_timeout_s);
}

void Staging::send(std::span<const std::byte> piece, const Copy& copy) {
  Area& staging = area(piece.size());
  copy_bytes({staging.block.mapped(), piece.size()}, piece);
  staging.block.flush(0, piece.size());
  run(staging.buffer.handle.get(), copying_with_host, copy);
}

void Staging::receive(std::span<std::byte> piece, const Copy& copy) {
  Area& staging = area(piece.size());
  run(staging.buffer.handle.get(), copying_with_host, copy);
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

void Staging::copy(const Image& from, const Image& to) {
  const VolkDeviceTable& vk = device_.table.vk;
  for (std::uint64_t done = 0; done < from.bytes;) {
    const Box box = box_at(from.extent, done / from.texel_bytes, room(from.bytes - done) / from.texel_bytes);
    const std::uint64_t bytes = box.texels() * from.texel_bytes;
    const VkBufferImageCopy region = copy_of(box);
    run(area(bytes).buffer.handle.get(), "copying a texture on the device",
        [&](VkCommandBuffer commands, VkBuffer staging) {
          vk.vkCmdCopyImageToBuffer(commands, from.handle.get(), VK_IMAGE_LAYOUT_GENERAL, staging, 1,
                                    &region);
          barrier(device_.table, commands, Scope::Transfer, Scope::Transfer);
          vk.vkCmdCopyBufferToImage(commands, staging, to.handle.get(), VK_IMAGE_LAYOUT_GENERAL, 1, &region);
        });
    done += bytes;
  }
}

}  // namespace assay::gpu
