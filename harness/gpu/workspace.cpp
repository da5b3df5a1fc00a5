#include "harness/gpu/workspace.h"

#include "harness/gpu/placement.h"
#include "harness/gpu/text.h"

#include <fmt/format.h>

#include <cstring>
#include <map>
#include <stdexcept>

namespace assay::gpu {
namespace {

std::uint64_t total_bytes(const Physical& physical, std::uint32_t guard) {
  return static_cast<std::uint64_t>(physical.bytes()) + 2 * std::uint64_t{guard};
}

std::string describe(std::string_view what, const Physical& physical) {
  return fmt::format("{} ({} {}, {})", what, name_of(physical.dtype()), to_string(physical.shape()),
                     to_string(physical.form()));
}

std::string story(const Device::State& device, const std::vector<Buffer*>& buffers) {
  std::uint64_t bytes = 0;
  std::string parts;
  for (const Buffer* buffer : buffers) {
    bytes += buffer->bytes;
    parts += fmt::format("{}{}: {}", parts.empty() ? "" : "; ", buffer->name, bytes_text(buffer->bytes));
  }
  return fmt::format("allocating {} for a workspace on '{}' [{}]", bytes_text(bytes), device.info().name,
                     parts);
}

/// Refuses what is known not to fit: a driver asked for more than its limits may do anything.
void refuse_impossible(const Device::State& device, const PlacementPlan& plan, std::uint32_t type,
                       const std::vector<Buffer*>& buffers) {
  const PhysicalDevice& physical = device.physical;
  const std::uint64_t heap = physical.memory.memoryHeaps[physical.memory.memoryTypes[type].heapIndex].size;
  std::uint64_t sum = 0;
  for (const std::uint64_t bytes : plan.block_bytes) {
    if (bytes > physical.max_allocation_bytes) {
      throw OutOfMemory(fmt::format("{}: maxMemoryAllocationSize is {}", story(device, buffers),
                                    bytes_text(physical.max_allocation_bytes)));
    }
    sum += bytes;
    if (sum > heap) {
      throw OutOfMemory(
          fmt::format("{}: the device's heap has {}", story(device, buffers), bytes_text(heap)));
    }
  }
}

/// Places buffers that all go to one memory type.
void allocate(Workspace::State& state, std::uint32_t type, const std::vector<Buffer*>& buffers) {
  std::vector<PlacementNeed> needs;
  for (const Buffer* buffer : buffers) {
    const VkMemoryRequirements asked = requirements(state.device, *buffer);
    needs.push_back({.bytes = asked.size, .alignment = asked.alignment});
  }
  const PlacementPlan plan = place(needs, state.device.physical.max_allocation_bytes);
  refuse_impossible(state.device, plan, type, buffers);
  const std::size_t first = state.blocks.size();
  for (const std::uint64_t bytes : plan.block_bytes) {
    state.blocks.emplace_back(state.device, bytes, type,
                              fmt::format("a workspace's {} buffers", buffers.size()));
  }
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    bind(state.device, *buffers[i], state.blocks[first + plan.places[i].block], plan.places[i].offset);
  }
}

}  // namespace

Workspace::State::State(Device::State& owner, const Program& program, std::span<const Physical> physicals,
                        std::uint32_t guard_size)
    : device(owner), id(owner.next_workspace_id++), guard(guard_size) {
  device.require_alive("allocating a workspace");
  for (const Physical& physical : physicals) {
    tensors.push_back(create_buffer(device, describe(fmt::format("tensor {}", tensors.size()), physical),
                                    total_bytes(physical, guard)));
  }
  for (const Scratch& temporary : program.scratch) {
    const Physical physical(temporary.form, temporary.dtype, temporary.shape);
    scratch.push_back(create_buffer(device, describe(fmt::format("scratch '{}'", temporary.name), physical),
                                    total_bytes(physical, guard)));
  }
  std::map<std::uint32_t, std::vector<Buffer*>> by_type;
  for (std::vector<Buffer>* buffers : {&tensors, &scratch}) {
    for (Buffer& buffer : *buffers) {
      const std::uint32_t allowed = requirements(device, buffer).memoryTypeBits;
      by_type[tensor_memory_type(device.physical.memory, allowed)].push_back(&buffer);
    }
  }
  for (const auto& [type, buffers] : by_type) {
    allocate(*this, type, buffers);
  }
}

const Buffer& Workspace::State::at(Resource resource) const {
  const std::vector<Buffer>& buffers = resource.kind == Resource::Kind::Tensor ? tensors : scratch;
  if (resource.index >= buffers.size()) {
    throw std::logic_error(fmt::format("{} {} was asked for, the program has {}",
                                       resource.kind == Resource::Kind::Tensor ? "tensor" : "scratch",
                                       resource.index, buffers.size()));
  }
  return buffers[resource.index];
}

VkDescriptorBufferInfo Workspace::State::descriptor_of(Resource resource) const {
  return {.buffer = at(resource).handle.get(), .offset = 0, .range = VK_WHOLE_SIZE};
}

std::uint64_t Workspace::State::memory_bytes() const {
  std::uint64_t sum = 0;
  for (const MemoryBlock& block : blocks) {
    sum += block.bytes();
  }
  return sum;
}

Workspace::Workspace(Device& device, const Program& program, std::span<const Physical> tensors,
                     std::uint32_t guard)
    : state_(std::make_unique<State>(device.state(), program, tensors, guard)) {}
Workspace::~Workspace() = default;
Workspace::Workspace(Workspace&&) noexcept = default;
Workspace& Workspace::operator=(Workspace&&) noexcept = default;

std::uint64_t Workspace::size(Resource resource) const {
  return state_->at(resource).bytes;
}

void Workspace::write(Resource resource, std::span<const std::byte> bytes) {
  const Buffer& buffer = state_->at(resource);
  if (bytes.size() != buffer.bytes) {
    throw std::logic_error(
        fmt::format("writing {} bytes into {}, which has {}", bytes.size(), buffer.name, buffer.bytes));
  }
  state_->device.require_alive(fmt::format("writing {}", buffer.name));
  if (std::byte* mapped = buffer.block->mapped_fast()) {
    std::memcpy(mapped + buffer.offset, bytes.data(), bytes.size());
    buffer.block->flush(buffer.offset, buffer.bytes);
    return;
  }
  state_->device.staging_area().upload(buffer, bytes);
}

std::vector<std::byte> Workspace::read(Resource resource) const {
  const Buffer& buffer = state_->at(resource);
  state_->device.require_alive(fmt::format("reading {}", buffer.name));
  std::vector<std::byte> bytes(buffer.bytes);
  if (const std::byte* mapped = buffer.block->mapped_fast()) {
    buffer.block->invalidate(buffer.offset, buffer.bytes);
    std::memcpy(bytes.data(), mapped + buffer.offset, bytes.size());
  } else {
    state_->device.staging_area().download(buffer, bytes);
  }
  return bytes;
}

std::uint64_t Workspace::memory_bytes() const {
  return state_->memory_bytes();
}

}  // namespace assay::gpu
