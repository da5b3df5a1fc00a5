#pragma once

#include "harness/gpu/device/device.h"

#include <span>

namespace assay::gpu {

/// One VkDeviceMemory, mapped for good when the host can see it.
class MemoryBlock {
 public:
  /// Throws OutOfMemory; `what` is what the memory is for ("the workspace of 3 buffers").
  MemoryBlock(Device::State& device, std::uint64_t bytes, std::uint32_t type, std::string_view what);
  ~MemoryBlock();
  MemoryBlock(MemoryBlock&& other) noexcept;
  MemoryBlock& operator=(MemoryBlock&&) = delete;

  VkDeviceMemory handle() const { return memory_.get(); }
  std::uint64_t bytes() const { return bytes_; }
  VkMemoryPropertyFlags properties() const { return properties_; }  ///< of its type
  /// Null when the host cannot see it.
  std::byte* mapped() const { return mapped_; }
  /// The same, but null also where the host's reads would crawl because they are not cached.
  std::byte* mapped_fast() const {
    return properties_ & VK_MEMORY_PROPERTY_HOST_CACHED_BIT ? mapped_ : nullptr;
  }
  /// Makes host writes to [offset, offset + size) seen by the device, or device writes by the host. Nothing
  /// to do for coherent memory.
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

/// Creates a storage and transfer buffer without memory.
Buffer create_buffer(Device::State& device, std::string name, std::uint64_t bytes);
VkMemoryRequirements requirements(const Device::State& device, const Buffer& buffer);
void bind(const Device::State& device, Buffer& buffer, const MemoryBlock& block, std::uint64_t offset);

/// The best type of `allowed` (a bit each) for tensors: device-local that the host reads at full speed (CPU
/// and integrated devices: no copies), else device-local, else any.
std::uint32_t tensor_memory_type(const VkPhysicalDeviceMemoryProperties& memory, std::uint32_t allowed);
/// The best type of `allowed` for staging: host-visible, cached (reading uncached memory is slow), coherent.
std::uint32_t staging_memory_type(const VkPhysicalDeviceMemoryProperties& memory, std::uint32_t allowed);

}  // namespace assay::gpu
