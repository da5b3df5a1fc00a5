#include "harness/gpu/program/uniform_buffers.h"

#include <algorithm>
#include <utility>

namespace assay::gpu {
UniformBuffers::UniformBuffers(Device::State& device, std::span<const std::vector<UniformBlock>> blocks) {
  for (const std::vector<UniformBlock>& of_dispatch : blocks) {
    std::vector<Descriptor>& descriptors = descriptors_.emplace_back();
    for (const UniformBlock& block : of_dispatch) {
      Buffer buffer = create_buffer(device, "a uniform block", block.bytes.size(), BufferUse::Uniform);
      const VkMemoryRequirements needs = requirements(device, buffer);
      auto memory = std::make_unique<MemoryBlock>(
          device, needs.size, uniform_memory_type(device.physical.memory, needs.memoryTypeBits),
          "a uniform block");
      bind(device, buffer, *memory, 0);
      std::ranges::copy(block.bytes, memory->mapped());
      memory->flush(0, block.bytes.size());  // a submission makes what the host wrote visible
      descriptors.push_back({.type = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER,
                             .buffer = {.buffer = buffer.handle.get(), .offset = 0, .range = VK_WHOLE_SIZE}});
      owned_.push_back({std::move(buffer), std::move(memory)});
    }
  }
}

std::span<const Descriptor> UniformBuffers::of(std::size_t dispatch) const {
  if (dispatch >= descriptors_.size()) return {};
  return descriptors_[dispatch];
}

}  // namespace assay::gpu
