#include "harness/gpu/memory/workspace.h"

#include "harness/base/parallel.h"
#include "harness/base/text.h"
#include "harness/gpu/commands/submission.h"
#include "harness/gpu/memory/memory.h"
#include "harness/gpu/memory/memory_pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace assay::gpu {
namespace {

using Allocation = Workspace::State::Allocation;

constexpr std::uint64_t align_up(std::uint64_t value, std::uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

constexpr double copy_timeout_s = 60;

std::uint64_t bytes_of(const Allocation& allocation) {
  return std::visit([](const auto& one) { return one.bytes; }, allocation);
}

const std::string& name_of(const Allocation& allocation) {
  return std::visit([](const auto& one) -> const std::string& { return one.name; }, allocation);
}

VkMemoryRequirements requirements_of(const Device::State& device, const Allocation& allocation) {
  return std::visit([&](const auto& one) { return requirements(device, one); }, allocation);
}

std::string describe(std::string_view what, const Physical& physical) {
  return fmt::format("{} ({} {}, {})", what, assay::name_of(physical.dtype()),
                     assay::to_string(physical.shape()), to_string(physical.form()));
}

/// An allocation and the workspace that it belongs to.
struct Owned {
  Workspace::State* state = nullptr;
  Allocation* allocation = nullptr;
};

constexpr std::size_t most_named = 16;  // allocations in a message

std::string story(const Device::State& device, const std::vector<Owned>& allocations) {
  std::uint64_t bytes = 0;
  std::string parts;
  for (std::size_t i = 0; i < allocations.size(); ++i) {
    const Allocation& one = *allocations[i].allocation;
    bytes += bytes_of(one);
    if (i < most_named)
      parts += fmt::format("{}{}: {}", parts.empty() ? "" : "; ", name_of(one), bytes_text(bytes_of(one)));
  }
  if (allocations.size() > most_named) parts += fmt::format("; {} more", allocations.size() - most_named);
  return fmt::format("allocating {} for a workspace on '{}' [{}]", bytes_text(bytes), device.info().name,
                     parts);
}

std::uint64_t heap_bytes(const PhysicalDevice& physical, std::uint32_t type) {
  return physical.memory.memoryHeaps[physical.memory.memoryTypes[type].heapIndex].size;
}

/// Refuses what is known not to fit: a driver asked for more than its limits may do anything.
void refuse_impossible(const Device::State& device, const PlacementPlan& plan, std::uint32_t type,
                       const std::vector<Owned>& allocations) {
  const PhysicalDevice& physical = device.physical;
  const std::uint64_t heap = heap_bytes(physical, type);
  std::uint64_t sum = 0;
  for (const std::uint64_t bytes : plan.block_bytes) {
    if (bytes > physical.max_allocation_bytes) {
      throw OutOfMemory(fmt::format("{}: maxMemoryAllocationSize is {}", story(device, allocations),
                                    bytes_text(physical.max_allocation_bytes)));
    }
    sum += bytes;
    if (sum > heap) {
      throw OutOfMemory(
          fmt::format("{}: the device's heap has {}", story(device, allocations), bytes_text(heap)));
    }
  }
}

/// What a block has more than is needed, so that tensors do not always begin in the same place of it: large
/// ones alone, where this is little.
std::uint64_t spare_bytes(std::uint64_t needed, std::uint64_t max_block) {
  constexpr std::uint64_t share = 32, most = std::uint64_t{8} << 20U;
  const std::uint64_t spare = std::min(needed / share, most);
  return needed <= max_block - std::min(max_block, spare) ? spare : 0;
}

/// Where the first tensor of a block begins.
std::uint64_t drawn_base(MemoryPool& pool, const MemoryBlock& block, std::uint64_t needed,
                         std::uint64_t alignment) {
  constexpr std::uint64_t page = 65536;
  const std::uint64_t spare = spare_bytes(needed, ~std::uint64_t{0});
  return pool.drawn_offset(std::min(block.bytes() - needed, spare), std::max(alignment, page));
}

PlacementNeed need_of(const Device::State& device, std::uint32_t type, const Allocation& allocation) {
  const VkMemoryRequirements asked = requirements_of(device, allocation);
  const VkMemoryPropertyFlags flags = device.physical.memory.memoryTypes[type].propertyFlags;
  // The host flushes and invalidates whole atoms, so none may hold bytes of two resources.
  const bool has_atoms =
      (flags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) && !(flags & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
  const VkDeviceSize atom = has_atoms ? device.physical.non_coherent_atom : 1;
  return {.bytes = asked.size,
          .alignment = std::max(asked.alignment, atom),
          .image = std::holds_alternative<Image>(allocation)};
}

/// Places what goes to one memory type.
void allocate(Device::State& device, std::uint32_t type, const std::vector<Owned>& allocations) {
  std::vector<PlacementNeed> needs;
  for (const Owned& one : allocations) needs.push_back(need_of(device, type, *one.allocation));
  const PlacementPlan plan =
      place(needs, device.physical.max_allocation_bytes, device.physical.image_granularity);
  refuse_impossible(device, plan, type, allocations);
  const std::uint64_t alignment = std::max(device.physical.image_granularity,
                                           std::ranges::max(needs, {}, &PlacementNeed::alignment).alignment);
  MemoryPool& pool = memory_pool_of(device);
  std::vector<PooledBlock> blocks;
  std::vector<std::uint64_t> bases;
  std::uint64_t left = heap_bytes(device.physical, type) -
                       std::accumulate(plan.block_bytes.begin(), plan.block_bytes.end(), std::uint64_t{0});
  for (const std::uint64_t bytes : plan.block_bytes) {
    // What fits the heap must not exceed it by what is spare.
    const std::uint64_t spare = std::min(spare_bytes(bytes, device.physical.max_allocation_bytes), left);
    left -= spare;
    blocks.push_back(
        pool.take(bytes + spare, type, fmt::format("a workspace's {} resources", allocations.size())));
    bases.push_back(drawn_base(pool, *blocks.back(), bytes, alignment));
  }
  std::vector<std::uint64_t> used(blocks.size());
  for (std::size_t i = 0; i < allocations.size(); ++i) {
    const Placement place = plan.places[i];
    std::visit([&](auto& one) { bind(device, one, *blocks[place.block], bases[place.block] + place.offset); },
               *allocations[i].allocation);
    const std::uint64_t end = place.offset + needs[i].bytes;
    Workspace::State& state = *allocations[i].state;
    state.own_bytes += end - std::exchange(used[place.block], end);
    if (state.blocks.empty() || state.blocks.back() != blocks[place.block])
      state.blocks.push_back(blocks[place.block]);
  }
}

/// The two are of one form.
void record_copy(const DeviceTable& table, VkCommandBuffer commands, const Allocation& from,
                 const Allocation& to) {
  if (const auto* image = std::get_if<Image>(&from)) {
    return record_copy(table, commands, *image, std::get<Image>(to));
  }
  const auto& buffer = std::get<Buffer>(from);
  const VkBufferCopy region{.srcOffset = 0, .dstOffset = 0, .size = buffer.bytes};
  table.vk.vkCmdCopyBuffer(commands, buffer.handle.get(), std::get<Buffer>(to).handle.get(), 1, &region);
}

bool copies_through_buffer(const Allocation& allocation) {
  const auto* image = std::get_if<Image>(&allocation);
  return image != nullptr && copies_through_buffer(*image);
}

}  // namespace

PlacementPlan place(std::span<const PlacementNeed> needs, std::uint64_t max_block,
                    std::uint64_t image_granularity) {
  PlacementPlan plan;
  for (std::size_t i = 0; i < needs.size(); ++i) {
    const PlacementNeed& need = needs[i];
    std::uint64_t offset = 0;
    if (i > 0) {
      const bool kind_changes = need.image != needs[i - 1].image;
      const std::uint64_t alignment = std::max(need.alignment, kind_changes ? image_granularity : 1);
      offset = align_up(plan.block_bytes.back(), alignment);
    }
    // Compared without adding: sizes may be close to 2^64.
    const bool fits = need.bytes <= max_block && offset <= max_block - need.bytes;
    if (i == 0 || !fits) {
      plan.block_bytes.push_back(0);
      offset = 0;
    }
    plan.block_bytes.back() = offset + need.bytes;
    plan.places.push_back({.block = plan.block_bytes.size() - 1, .offset = offset});
  }
  return plan;
}

Workspace::State::State(Device::State& owner, const Program& program, std::span<const Physical> physicals,
                        std::uint32_t guard_size, Loan lent)
    : device(owner), id(owner.next_workspace_id++), guard(guard_size), loan(std::move(lent)) {
  device.require_alive("allocating a workspace");
  for (std::uint32_t i = 0; i < physicals.size(); ++i) {
    add(Resource::tensor(i), fmt::format("tensor {}", i), physicals[i]);
  }
  for (std::uint32_t i = 0; i < program.scratch.size(); ++i) {
    const Scratch& temporary = program.scratch[i];
    in_memory_of.push_back(temporary.in_memory_of);
    if (temporary.in_memory_of) {
      scratch.emplace_back();
      continue;
    }
    add(Resource::scratch(i), fmt::format("scratch '{}'", temporary.name),
        Physical(temporary.form, temporary.dtype, temporary.shape));
  }
}

void Workspace::State::add(Resource resource, const std::string& what, const Physical& physical) {
  std::optional<Allocation>& to =
      (resource.kind == Resource::Kind::Tensor ? tensors : scratch).emplace_back();
  if (loan.has(resource)) {
    return;
  }
  if (is_texture(physical.form())) {
    to = create_image(device, describe(what, physical), physical);
    return;
  }
  const std::uint64_t bytes = static_cast<std::uint64_t>(physical.bytes()) + 2 * std::uint64_t{guard};
  to = create_buffer(device, describe(what, physical), bytes);
}

std::vector<Allocation*> Workspace::State::own(bool images) {
  std::vector<Allocation*> found;
  for (auto* allocations : {&tensors, &scratch}) {
    for (std::optional<Allocation>& one : *allocations) {
      if (one && std::holds_alternative<Image>(*one) == images) found.push_back(&*one);
    }
  }
  return found;
}

void Workspace::State::place(std::span<State* const> states) {
  if (states.empty()) return;
  Device::State& device = states.front()->device;
  // By memory type, and there buffers before images: what stands between the two kinds is wasted once.
  std::map<std::uint32_t, std::vector<Owned>> by_type;
  std::vector<const Image*> all_images;
  for (const bool images : {false, true}) {
    for (State* state : states) {
      for (Allocation* one : state->own(images)) {
        const std::uint32_t allowed = requirements_of(device, *one).memoryTypeBits;
        by_type[tensor_memory_type(device.physical.memory, allowed)].push_back({state, one});
        if (images) all_images.push_back(&std::get<Image>(*one));
      }
    }
  }
  for (const auto& [type, allocations] : by_type) allocate(device, type, allocations);
  prepare_images(device, all_images);
}

const Workspace::State::Allocation& Workspace::State::at(Resource resource) const {
  const auto& all = resource.kind == Resource::Kind::Tensor ? tensors : scratch;
  if (resource.index >= all.size()) {
    throw std::logic_error(fmt::format("{} {} was asked for, the program has {}",
                                       resource.kind == Resource::Kind::Tensor ? "tensor" : "scratch",
                                       resource.index, all.size()));
  }
  const bool is_scratch = resource.kind == Resource::Kind::Scratch;
  if (is_scratch && in_memory_of[resource.index]) return at(Resource::scratch(*in_memory_of[resource.index]));
  const std::optional<Allocation>& own = all[resource.index];
  return own ? *own : loan.lender->at(resource);
}

Descriptor Workspace::State::descriptor_of(const Binding& binding) const {
  const Allocation& one = at(binding.resource);
  if (const auto* image = std::get_if<Image>(&one)) {
    return {.type = binding.is_sampled() ? VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER
                                         : VK_DESCRIPTOR_TYPE_STORAGE_IMAGE,
            .image = {.sampler = binding.is_sampled() ? nearest_sampler(device) : VK_NULL_HANDLE,
                      .imageView = image->view.get(),
                      .imageLayout = VK_IMAGE_LAYOUT_GENERAL}};
  }
  const auto& buffer = std::get<Buffer>(one);
  VkDescriptorBufferInfo info{.buffer = buffer.handle.get(), .offset = 0, .range = VK_WHOLE_SIZE};
  if (binding.range != Binding::Range::All) info.offset = guard;
  if (binding.range == Binding::Range::Data) info.range = buffer.bytes - 2 * std::uint64_t{guard};
  return {.type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, .buffer = info};
}

VkMemoryPropertyFlags Workspace::State::memory_of(Resource resource) const {
  return std::visit([](const auto& one) { return one.block->properties(); }, at(resource));
}

std::vector<Resource> Workspace::State::resources() const {
  std::vector<Resource> all;
  for (std::uint32_t i = 0; i < tensors.size(); ++i) all.push_back(Resource::tensor(i));
  for (std::uint32_t i = 0; i < scratch.size(); ++i) {
    if (!in_memory_of[i]) all.push_back(Resource::scratch(i));
  }
  return all;
}

namespace {

/// Whether one can be copied to the other as it lies.
bool are_alike(const Allocation& one, const Allocation& other) {
  if (one.index() != other.index() || bytes_of(one) != bytes_of(other)) return false;
  const auto* image = std::get_if<Image>(&one);
  if (image == nullptr) return true;
  const auto& second = std::get<Image>(other);
  return image->texel_bytes == second.texel_bytes && image->extent.width == second.extent.width &&
         image->extent.height == second.extent.height && image->extent.depth == second.extent.depth;
}

}  // namespace

std::vector<Workspace::State::Copy> Workspace::State::copies(const State& to,
                                                             std::span<const Resource> copied) const {
  if (&to.device != &device || to.guard != guard)
    throw std::logic_error("a workspace can be copied only to one on its device, with equal guards");
  std::vector<Copy> found;
  for (const Resource resource : copied) {
    const Allocation& from = at(resource);
    const Allocation& into = to.at(resource);
    if (!are_alike(from, into)) {
      throw std::logic_error(
          fmt::format("{} cannot be copied to {} of another workspace", name_of(from), name_of(into)));
    }
    if (!to.loan.has(resource)) found.push_back({&from, &into});
  }
  return found;
}

void Workspace::State::record_fill(VkCommandBuffer commands, Resource resource, std::uint32_t word) const {
  const Allocation& one = at(resource);
  if (const auto* image = std::get_if<Image>(&one)) {
    VkClearColorValue color{};
    std::ranges::fill(color.uint32, word);
    device.table.vk.vkCmdClearColorImage(commands, image->handle.get(), VK_IMAGE_LAYOUT_GENERAL, &color, 1,
                                         &whole_image);
    return;
  }
  const auto& buffer = std::get<Buffer>(one);
  device.table.vk.vkCmdFillBuffer(commands, buffer.handle.get(), guard,
                                  buffer.bytes - 2 * std::uint64_t{guard}, word);
}

Workspace::Workspace(std::unique_ptr<State> state) : state_(std::move(state)) {}
Workspace::Workspace(Device& device, const Program& program, std::span<const Physical> tensors,
                     std::uint32_t guard)
    : Workspace(std::make_unique<State>(device.state(), program, tensors, guard, State::Loan{})) {
  State* const alone = state_.get();
  State::place({&alone, 1});
}
Workspace::Workspace(Device& device, const Program& program, std::span<const Physical> tensors,
                     const Workspace& lender, std::span<const Resource> shared)
    : Workspace(std::make_unique<State>(device.state(), program, tensors, lender.state_->guard,
                                        State::Loan{lender.state_.get(), {shared.begin(), shared.end()}})) {
  State* const alone = state_.get();
  State::place({&alone, 1});
}

std::vector<Workspace> Workspace::several(std::size_t count, Device& device, const Program& program,
                                          std::span<const Physical> tensors, std::uint32_t guard) {
  std::vector<Workspace> made;
  std::vector<State*> states;
  for (std::size_t i = 0; i < count; ++i) {
    made.push_back(
        Workspace(std::make_unique<State>(device.state(), program, tensors, guard, State::Loan{})));
    states.push_back(made.back().state_.get());
  }
  State::place(states);
  return made;
}

Workspace::~Workspace() = default;
Workspace::Workspace(Workspace&&) noexcept = default;
Workspace& Workspace::operator=(Workspace&&) noexcept = default;

std::uint64_t Workspace::size(Resource resource) const {
  return bytes_of(state_->at(resource));
}

void Workspace::write(Resource resource, std::span<const std::byte> bytes) {
  const Allocation& to = state_->at(resource);
  if (bytes.size() != bytes_of(to)) {
    throw std::logic_error(
        fmt::format("writing {} bytes into {}, which has {}", bytes.size(), name_of(to), bytes_of(to)));
  }
  state_->device.require_alive(fmt::format("writing {}", name_of(to)));
  if (const auto* image = std::get_if<Image>(&to)) {
    return staging_of(state_->device).upload(*image, bytes);
  }
  const auto& buffer = std::get<Buffer>(to);
  if (std::byte* mapped = buffer.block->mapped_fast()) {
    copy_bytes({mapped + buffer.offset, bytes.size()}, bytes);
    return buffer.block->flush(buffer.offset, buffer.bytes);
  }
  staging_of(state_->device).upload(buffer, bytes);
}

std::vector<std::byte> Workspace::read(Resource resource) const {
  std::vector<std::byte> bytes(size(resource));
  read(resource, 0, bytes);
  return bytes;
}

void Workspace::read(Resource resource, std::uint64_t offset, std::span<std::byte> into) const {
  const Allocation& from = state_->at(resource);
  state_->device.require_alive(fmt::format("reading {}", name_of(from)));
  const auto* image = std::get_if<Image>(&from);
  const bool is_part = offset != 0 || into.size() != bytes_of(from);
  if (offset + into.size() > bytes_of(from) || (image != nullptr && is_part)) {
    throw std::logic_error(fmt::format("reading {} bytes at {} of {}, which has {}", into.size(), offset,
                                       name_of(from), bytes_of(from)));
  }
  if (image != nullptr) {
    return staging_of(state_->device).download(*image, into);
  }
  const auto& buffer = std::get<Buffer>(from);
  if (const std::byte* mapped = buffer.block->mapped_fast()) {
    buffer.block->invalidate(buffer.offset + offset, into.size());
    copy_bytes(into, {mapped + buffer.offset + offset, into.size()});
  } else {
    staging_of(state_->device).download(buffer, into, offset);
  }
}

void Workspace::copy_to(std::span<Workspace* const> others) const {
  for (const Workspace* other : others) {
    if (other->state_->tensors.size() != state_->tensors.size() ||
        other->state_->scratch.size() != state_->scratch.size())
      throw std::logic_error("a whole workspace can be copied only to one of the same program");
  }
  copy_to(others, state_->resources());
}

void Workspace::copy_to(std::span<Workspace* const> others, std::span<const Resource> resources) const {
  std::vector<State::Copy> copies;
  for (const Workspace* other : others) {
    const std::vector<State::Copy> more = state_->copies(*other->state_, resources);
    copies.insert(copies.end(), more.begin(), more.end());
  }
  const auto through_buffer = std::partition(copies.begin(), copies.end(), [](const State::Copy& copy) {
    return !copies_through_buffer(*copy.from);
  });
  for (auto copy = through_buffer; copy != copies.end(); ++copy)
    staging_of(state_->device).copy(std::get<Image>(*copy->from), std::get<Image>(*copy->to));
  copies.erase(through_buffer, copies.end());
  if (copies.empty()) return;
  Submission submission(state_->device, "copying a workspace on the device");
  const DeviceTable& table = state_->device.table;
  barrier(table, submission.commands(), Scope::Anything, Scope::Transfer);
  for (const State::Copy& copy : copies) record_copy(table, submission.commands(), *copy.from, *copy.to);
  barrier(table, submission.commands(), Scope::Transfer, Scope::Anything);
  submission.submit_and_wait(copy_timeout_s);
}

std::uint64_t Workspace::memory_bytes() const {
  return state_->own_bytes;
}

}  // namespace assay::gpu
