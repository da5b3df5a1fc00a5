#pragma once

#include "harness/gpu/memory/workspace.h"
#include "harness/gpu/program/external_call.h"

#include <memory>
#include <span>
#include <vector>

namespace assay::gpu {

/// The uniform buffers of a program's dispatches: written once, bound after the tensors and scratch.
class UniformBuffers {
 public:
  UniformBuffers() = default;
  /// `blocks` has the uniform blocks of each dispatch. Throws OutOfMemory.
  UniformBuffers(Device::State& device, std::span<const std::vector<UniformBlock>> blocks);

  /// What the dispatch binds after its tensors and scratch, in order.
  std::span<const Descriptor> of(std::size_t dispatch) const;

 private:
  struct Owned {
    Buffer buffer;
    std::unique_ptr<MemoryBlock> memory;
  };

  std::vector<Owned> owned_;
  std::vector<std::vector<Descriptor>> descriptors_;  ///< by dispatch; empty: none has any
};

}  // namespace assay::gpu
