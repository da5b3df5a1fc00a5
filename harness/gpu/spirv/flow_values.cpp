#include "harness/gpu/spirv/flow_values.h"

#include "harness/gpu/spirv/spirv_outline.h"

#include <algorithm>
#include <utility>

namespace assay::gpu {

FlowAccess::FlowAccess(const SpirvFlow& flow) : flow_(&flow), roots_(flow.first_free_id) {
  for (const auto& [id, variable] : flow.variables) {
    roots_[id] = id;
    if (variable.storage_class == spv::StorageClassUniformConstant) handles_.insert(id);
  }
  for (bool changes = true; changes;) {
    changes = false;
    each_of(flow, [&](const FlowInstruction& one, FlowPlace) {
      const bool passes = is_handle(one) || use_of_variable(one.opcode) == VariableUse::PassesOn;
      if (!passes || root_of(one) == 0 || roots_[one.result] != 0) return;
      roots_[one.result] = root_of(one);
      changes = true;
    });
  }
}

bool FlowAccess::is_handle(const FlowInstruction& one) const {
  return one.opcode == spv::OpLoad && handles_.contains(root_of(one));
}

bool FlowAccess::reads(const FlowInstruction& one) const {
  if (root_of(one) == 0 || is_handle(one)) return false;
  const VariableUse use = use_of_variable(one.opcode);
  return use == VariableUse::Reads || use == VariableUse::Updates;
}

bool FlowAccess::writes(const FlowInstruction& one) const {
  if (root_of(one) == 0) return false;
  const VariableUse use = use_of_variable(one.opcode);
  return use == VariableUse::Writes || use == VariableUse::Updates;
}

bool FlowAccess::is_understood(const FlowInstruction& one) const {
  if (one.opcode == spv::OpVariable || one.ids.empty()) return true;
  const bool escapes =
      std::any_of(one.ids.begin() + 1, one.ids.end(), [&](std::uint32_t id) { return root_of(id) != 0; });
  if (escapes) return one.opcode == spv::OpSampledImage;
  return root_of(one) == 0 || is_handle(one) || use_of_variable(one.opcode) != VariableUse::Unknown;
}

bool FlowAccess::is_understood() const {
  bool all = true;
  each_of(*flow_, [&](const FlowInstruction& one, FlowPlace) { all = all && is_understood(one); });
  return all;
}

FlowDependence::FlowDependence(const SpirvFlow& flow, const FlowAccess& access,
                               const std::vector<std::size_t>& ends, IsSource is_source)
    : flow_(flow),
      access_(access),
      ends_(ends),
      is_source_(std::move(is_source)),
      before_(flow.blocks.size()),
      users_(flow.first_free_id),
      depends_(flow.first_free_id),
      decided_(flow.blocks.size()),
      has_decided_(flow.blocks.size()) {
  for (std::size_t block = 0; block < flow.blocks.size(); ++block) {
    for (const std::size_t next : flow.blocks[block].next) before_[next].push_back(block);
  }
  each_of(flow, [&](const FlowInstruction& one, FlowPlace place) {
    for (const std::uint32_t id : one.ids) users_[id].push_back(place);
  });
  each_of(flow, [&](const FlowInstruction& one, FlowPlace place) {
    if (is_source_(one)) see(one, place.block);
  });
  spread();
}

bool FlowDependence::takes(const FlowInstruction& one, std::size_t block) const {
  if (std::ranges::any_of(one.ids, [&](std::uint32_t id) { return depends_[id]; })) return true;
  if (is_source_(one)) return true;
  if (one.opcode == spv::OpPhi) {
    return std::ranges::any_of(before_[block],
                               [&](std::size_t before) { return decided_[before] || has_decided_[before]; });
  }
  return decided_[block] && (access_.writes(one) || one.opcode == spv::OpReturnValue);
}

void FlowDependence::set(std::uint32_t id) {
  if (id == 0 || depends_[id]) return;
  depends_[id] = true;
  open_.push_back(id);
}

/// What is stored at bindings is there for others: it is no variable of the kernel's own.
void FlowDependence::see(const FlowInstruction& one, std::size_t block) {
  if (!takes(one, block)) return;
  set(one.result);
  const std::uint32_t root = access_.root_of(one);
  if (access_.writes(one) && !flow_.variables.at(root).binding) set(root);
}

void FlowDependence::spread() {
  while (!open_.empty()) {
    const std::uint32_t id = open_.back();
    open_.pop_back();
    for (const FlowPlace& place : users_[id]) {
      see(flow_.blocks[place.block].instructions[place.number], place.block);
      if (!has_decided_[place.block] && branches(place.block)) decide_from(place.block);
    }
  }
}

/// Whether what depends on them decides which block follows.
bool FlowDependence::branches(std::size_t block) const {
  const FlowBlock& one = flow_.blocks[block];
  return one.next.size() > 1 && !one.instructions.empty() && !one.instructions.back().ids.empty() &&
         depends_[one.instructions.back().ids.front()];
}

/// All between a branch and the block in which its ways meet again.
void FlowDependence::decide_from(std::size_t branch) {
  has_decided_[branch] = true;
  std::vector<bool> seen(flow_.blocks.size() + 1);
  seen[ends_[branch]] = true;
  std::vector<std::size_t> open = flow_.blocks[branch].next;
  std::vector<std::size_t> decided;
  while (!open.empty()) {
    const std::size_t block = open.back();
    open.pop_back();
    if (seen[block]) continue;
    seen[block] = true;
    if (!decided_[block]) decided.push_back(block);
    decided_[block] = true;
    open.insert(open.end(), flow_.blocks[block].next.begin(), flow_.blocks[block].next.end());
  }
  for (const std::size_t next : flow_.blocks[branch].next) see_decided(next);
  for (const std::size_t block : decided) {
    see_decided(block);
    for (const std::size_t next : flow_.blocks[block].next) see_decided(next);
  }
}

void FlowDependence::see_decided(std::size_t block) {
  for (const FlowInstruction& one : flow_.blocks[block].instructions) see(one, block);
}

}  // namespace assay::gpu
