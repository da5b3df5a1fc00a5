#include "harness/gpu/program/uniform_buffers.h"

#include "harness/gpu/memory/staging.h"

#include <algorithm>
#include <utility>

namespace assay::gpu {
namespace {

void fill(Device::State& device, const Buffer& buffer, const MemoryBlock& memory,
          std::span<const std::byte> bytes) {
  if (memory.mapped() == nullptr) {
    staging_of(device).upload(buffer, bytes);
    return;
  }
  std::ranges::copy(bytes, memory.mapped());
  memory.flush(0, bytes.size());
}

}  // namespace

UniformBuffers::UniformBuffers(Device::State& device, std::span<const std::vector<UniformBlock>> blocks) {
  for (const std::vector<UniformBlock>& of_dispatch : blocks) {
    std::vector<Descriptor>& descriptors = descriptors_.emplace_back();
    for (const UniformBlock& block : of_dispatch) {
      Buffer buffer = create_buffer(device, "a uniform block", block.bytes.size(), BufferUse::Uniform);
      const VkMemoryRequirements needs = requirements(device, buffer);
      auto memory = std::make_unique<MemoryBlock>(
          device, needs.size, tensor_memory_type(device.physical.memory, needs.memoryTypeBits),
          "a uniform block");
      bind(device, buffer, *memory, 0);
      fill(device, buffer, *memory, block.bytes);
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
