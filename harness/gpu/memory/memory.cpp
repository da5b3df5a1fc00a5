#include "harness/gpu/memory/memory.h"

#include "harness/base/text.h"

#include <fmt/format.h>

#include <array>
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

MemoryBlock::MemoryBlock(Device::State& device, std::uint64_t bytes, std::uint32_t type,
                         std::string_view what)
    : device_(&device), bytes_(bytes) {
  const PhysicalDevice& physical = device.physical;
  const VkMemoryType& kind = physical.memory.memoryTypes[type];
  const std::uint64_t heap = physical.memory.memoryHeaps[kind.heapIndex].size;
  properties_ = kind.propertyFlags;
  const std::string doing = fmt::format("allocating {} for {} on '{}' (its heap has {})", bytes_text(bytes),
                                        what, device.info().name, bytes_text(heap));
  if (device.allocations >= physical.max_allocations) {
    throw OutOfMemory(fmt::format("{}: maxMemoryAllocationCount is {}", doing, physical.max_allocations));
  }
  VkMemoryAllocateInfo info{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
  info.allocationSize = bytes;
  info.memoryTypeIndex = type;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  check(device.table.vk.vkAllocateMemory(device.table.device, &info, nullptr, &memory), doing);
  memory_ = {device.table, memory, device.table.vk.vkFreeMemory};
  if (kind.propertyFlags & visible) {
    void* pointer = nullptr;
    check(device.table.vk.vkMapMemory(device.table.device, memory, 0, VK_WHOLE_SIZE, 0, &pointer),
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

}  // namespace assay::gpu
