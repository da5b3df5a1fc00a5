#pragma once

#include "harness/gpu/device/device.h"

#include <span>

namespace assay::gpu {

/// One VkDeviceMemory, mapped for its whole lifetime when the host can see it.
class MemoryBlock {
 public:
  /// Throws OutOfMemory; `what` says in its message what the memory is for ("the workspace of 3 buffers").
  MemoryBlock(Device::State& device, std::uint64_t bytes, std::uint32_t type, std::string_view what);
  ~MemoryBlock();
  MemoryBlock(MemoryBlock&& other) noexcept;
  MemoryBlock& operator=(MemoryBlock&&) = delete;

  VkDeviceMemory handle() const { return memory_.get(); }
  std::uint64_t bytes() const { return bytes_; }
  VkMemoryPropertyFlags properties() const { return properties_; }  ///< of its memory type
  /// The mapped memory; null when the host cannot see it.
  std::byte* mapped() const { return mapped_; }
  /// The mapped memory; null also when it is not cached, because the host's reads would crawl.
  std::byte* mapped_fast() const {
    return properties_ & VK_MEMORY_PROPERTY_HOST_CACHED_BIT ? mapped_ : nullptr;
  }
  /// flush() makes host writes to [offset, offset + size) visible to the device, invalidate() device writes
  /// to the host. Neither does anything for coherent memory.
  void flush(std::uint64_t offset, std::uint64_t size) const;
  void invalidate(std::uint64_t offset, std::uint64_t size) const;

 private:
  VkMappedMemoryRange range(std::uint64_t offset, std::uint64_t size) const;

  Device::State* device_;
  std::uint64_t bytes_;
  VkMemoryPropertyFlags properties_ = 0;
  Handle<VkDeviceMemory> memory_;
  std::byte* mapped_ = nullptr;
};

/// A buffer and the part of a block it is bound to.
struct Buffer {
  std::string name;
  std::uint64_t bytes = 0;
  Handle<VkBuffer> handle;
  const MemoryBlock* block = nullptr;
  std::uint64_t offset = 0;
};

enum class BufferUse : std::uint8_t { Storage, Uniform };

/// Creates a storage or uniform buffer, for transfers too, without memory.
Buffer create_buffer(Device::State& device, std::string name, std::uint64_t bytes,
                     BufferUse use = BufferUse::Storage);
VkMemoryRequirements requirements(const Device::State& device, const Buffer& buffer);
void bind(const Device::State& device, Buffer& buffer, const MemoryBlock& block, std::uint64_t offset);

/// The best memory type for tensors among `allowed` (one bit per type): device-local memory that the host
/// reads at full speed (CPU and integrated devices: no copies needed), else device-local, else any.
std::uint32_t tensor_memory_type(const VkPhysicalDeviceMemoryProperties& memory, std::uint32_t allowed);
/// The best memory type for small buffers that the host writes once and shaders read: host-visible,
/// preferably device-local, then coherent.
std::uint32_t uniform_memory_type(const VkPhysicalDeviceMemoryProperties& memory, std::uint32_t allowed);
/// The best memory type for staging among `allowed`: host-visible, preferably cached (reading uncached memory
/// is slow), then coherent.
std::uint32_t staging_memory_type(const VkPhysicalDeviceMemoryProperties& memory, std::uint32_t allowed);

}  // namespace assay::gpu
