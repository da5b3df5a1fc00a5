#pragma once

#include "harness/gpu/memory.h"

#include <deque>

namespace assay::gpu {

/// Every resource of a program is a Buffer for now. A texture will be a second kind beside it, placed in the
/// same blocks and chosen by the form of the resource; `descriptor_of` and read/write are where kinds differ.
struct Workspace::State {
  State(Device::State& device, const Program& program, std::span<const Physical> tensors,
        std::uint32_t guard);

  Device::State& device;
  std::uint64_t id;                ///< never used twice by a device
  std::uint32_t guard;             ///< bytes before and after each resource's data
  std::deque<MemoryBlock> blocks;  ///< outlive the buffers in them; never move
  std::vector<Buffer> tensors;
  std::vector<Buffer> scratch;

  /// Throws std::logic_error for a resource that the program does not have.
  const Buffer& at(Resource resource) const;
  VkDescriptorBufferInfo descriptor_of(Resource resource) const;
  std::uint64_t memory_bytes() const;
};

}  // namespace assay::gpu
