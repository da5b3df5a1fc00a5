#include "harness/gpu/spirv/late_use.h"

#include "harness/gpu/spirv/spirv_flow.h"
#include "harness/gpu/spirv/spirv_outline.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace assay::gpu {
namespace {

/// The number of instructions of a block before which no invocation may know what was read.
constexpr std::size_t never = static_cast<std::size_t>(-1);

class Analysis {
 public:
  Analysis(SpirvFlow flow, const std::set<std::uint32_t>& kept)
      : flow_(std::move(flow)),
        before_(flow_.blocks.size()),
        late_from_(flow_.blocks.size(), never),
        decided_(flow_.blocks.size()),
        roots_(flow_.first_free_id),
        is_result_(flow_.first_free_id),
        of_inputs_(flow_.first_free_id) {
    for (std::size_t block = 0; block < flow_.blocks.size(); ++block) {
      for (const std::size_t next : flow_.blocks[block].next) before_[next].push_back(block);
    }
    each([&](const FlowInstruction& one, std::size_t, std::size_t) { is_result_[one.result] = true; });
    for (const auto& [id, variable] : flow_.variables) {
      roots_[id] = id;
      if (variable.storage_class == spv::StorageClassUniformConstant) handles_.insert(id);
      if (!variable.binding) continue;
      (kept.contains(*variable.binding) ? kept_ : inputs_).insert(id);
    }
  }

  std::optional<LateUse> first_late_use() {
    if (auto unknown = follow_pointers()) return unknown;
    do {
      find_late();
    } while (find_told());
    find_of_inputs();
    std::optional<LateUse> found;
    each([&](const FlowInstruction& one, std::size_t block, std::size_t i) {
      if (i < late_from_[block] || (found && found->binding)) return;
      const std::optional<LateUse> use = use_of(one, block);
      if (use && (!found || use->binding)) found = use;  // which input it reads says most
    });
    return found;
  }

 private:
  std::uint32_t root_of(std::uint32_t id) const { return roots_[id]; }

  /// The variable that an instruction's first operand refers to; 0: none.
  std::uint32_t root_of(const FlowInstruction& one) const {
    return one.ids.empty() ? 0 : root_of(one.ids.front());
  }

  bool is_handle(const FlowInstruction& one) const {
    return one.opcode == spv::OpLoad && handles_.contains(root_of(one));
  }

  bool passes_on(const FlowInstruction& one) const {
    return root_of(one) != 0 && (is_handle(one) || use_of_variable(one.opcode) == VariableUse::PassesOn);
  }

  bool reads(const FlowInstruction& one) const {
    if (root_of(one) == 0 || is_handle(one)) return false;
    const VariableUse use = use_of_variable(one.opcode);
    return use == VariableUse::Reads || use == VariableUse::Updates;
  }

  bool writes(const FlowInstruction& one) const {
    if (root_of(one) == 0) return false;
    const VariableUse use = use_of_variable(one.opcode);
    return use == VariableUse::Writes || use == VariableUse::Updates;
  }

  template <class Visit>
  void each(const Visit& visit) const {
    for (std::size_t block = 0; block < flow_.blocks.size(); ++block) {
      const std::vector<FlowInstruction>& all = flow_.blocks[block].instructions;
      for (std::size_t i = 0; i < all.size(); ++i) visit(all[i], block, i);
    }
  }

  /// Finds the variable of each pointer and image. Returns a use of one that is not understood.
  std::optional<LateUse> follow_pointers() {
    for (bool changes = true; changes;) {
      changes = false;
      each([&](const FlowInstruction& one, std::size_t, std::size_t) {
        if (!passes_on(one) || roots_[one.result] != 0) return;
        roots_[one.result] = root_of(one);
        changes = true;
      });
    }
    std::optional<LateUse> unknown;
    each([&](const FlowInstruction& one, std::size_t, std::size_t) {
      if (!unknown && !is_understood(one)) unknown = {"uses pointers in a way that is not understood", {}};
    });
    return unknown;
  }

  bool is_understood(const FlowInstruction& one) const {
    if (one.opcode == spv::OpVariable) return true;
    const bool escapes = std::any_of(one.ids.begin() + (one.ids.empty() ? 0 : 1), one.ids.end(),
                                     [&](std::uint32_t id) { return root_of(id) != 0; });
    if (escapes) return one.opcode == spv::OpSampledImage;
    return root_of(one) == 0 || is_handle(one) || use_of_variable(one.opcode) != VariableUse::Unknown;
  }

  /// Whether an invocation knows after this instruction what was read.
  bool tells(const FlowInstruction& one) const {
    return reads(one) && (kept_.contains(root_of(one)) || told_.contains(root_of(one)));
  }

  void find_late() {
    std::vector<std::size_t> open;
    const auto set_late = [&](std::size_t block, std::size_t from) {
      if (from >= late_from_[block]) return;
      late_from_[block] = from;
      open.push_back(block);
    };
    each([&](const FlowInstruction& one, std::size_t block, std::size_t i) {
      if (tells(one)) set_late(block, i + 1);
    });
    while (!open.empty()) {
      const std::size_t block = open.back();
      open.pop_back();
      for (const std::size_t next : flow_.blocks[block].next) set_late(next, 0);
    }
  }

  /// Finds shared variables that are written late. Returns whether there are more than before.
  bool find_told() {
    const std::size_t before = told_.size();
    each([&](const FlowInstruction& one, std::size_t block, std::size_t i) {
      if (i < late_from_[block] || !writes(one)) return;
      const auto variable = flow_.variables.find(root_of(one));
      if (variable->second.storage_class == spv::StorageClassWorkgroup) told_.insert(variable->first);
    });
    return told_.size() > before;
  }

  /// Whether this instruction's result, or what it stores, is computed from inputs.
  bool takes_inputs(const FlowInstruction& one, std::size_t block) const {
    if (std::ranges::any_of(one.ids, [&](std::uint32_t id) { return of_inputs_[id]; })) return true;
    if (reads(one) && (inputs_.contains(root_of(one)) || of_inputs_[root_of(one)])) return true;
    if (one.opcode == spv::OpPhi) return comes_by_decided_ways(block);
    return decided_[block] && (writes(one) || one.opcode == spv::OpReturnValue);
  }

  bool comes_by_decided_ways(std::size_t block) const {
    return std::ranges::any_of(before_[block],
                               [&](std::size_t before) { return decided_[before] || decides(before); });
  }

  /// Whether a value that is computed from inputs decides which block follows.
  bool decides(std::size_t block) const {
    const FlowBlock& one = flow_.blocks[block];
    return one.next.size() > 1 && !one.instructions.empty() && !one.instructions.back().ids.empty() &&
           of_inputs_[one.instructions.back().ids.front()];
  }

  void find_of_inputs() {
    const std::vector<std::size_t> ends = immediate_postdominators(flow_.blocks);
    for (bool changes = true; changes;) {
      changes = false;
      each([&](const FlowInstruction& one, std::size_t block, std::size_t) {
        if (!takes_inputs(one, block)) return;
        if (one.result != 0 && set_of_inputs(one.result)) changes = true;
        if (writes(one) && is_own(root_of(one)) && set_of_inputs(root_of(one))) changes = true;
      });
      for (std::size_t block = 0; block < flow_.blocks.size(); ++block) {
        if (decides(block) && decide_from(block, ends[block])) changes = true;
      }
    }
  }

  /// Returns whether it is new.
  bool set_of_inputs(std::uint32_t id) {
    const bool is_new = !of_inputs_[id];
    of_inputs_[id] = true;
    return is_new;
  }

  /// Whether a variable is the kernel's own: what is stored at bindings is there to be read later.
  bool is_own(std::uint32_t variable) const { return !flow_.variables.at(variable).binding; }

  /// Marks the blocks between a branch and the one in which its ways meet again. Returns whether there were
  /// any new ones.
  bool decide_from(std::size_t branch, std::size_t end) {
    bool is_new = false;
    std::vector<std::size_t> open = flow_.blocks[branch].next;
    std::set<std::size_t> seen{end};
    while (!open.empty()) {
      const std::size_t block = open.back();
      open.pop_back();
      if (!seen.insert(block).second) continue;
      is_new = is_new || !decided_[block];
      decided_[block] = true;
      open.insert(open.end(), flow_.blocks[block].next.begin(), flow_.blocks[block].next.end());
    }
    return is_new;
  }

  std::optional<LateUse> use_of(const FlowInstruction& one, std::size_t block) const {
    if (reads(one) && inputs_.contains(root_of(one))) {
      return LateUse{"reads it", flow_.variables.at(root_of(one)).binding};
    }
    if (takes_inputs(one, block)) {
      return LateUse{"uses a value that it has computed from its inputs", {}};
    }
    if (decided_[block]) return LateUse{"goes on only for some values of its inputs", {}};
    if (writes(one) && kept_.contains(root_of(one)) && !stores_constant(one)) {
      return LateUse{"stores there what is no constant, which the next run would find", {}};
    }
    return std::nullopt;
  }

  bool stores_constant(const FlowInstruction& one) const {
    return std::none_of(one.ids.begin() + 1, one.ids.end(), [&](std::uint32_t id) { return is_result_[id]; });
  }

  SpirvFlow flow_;
  // Per block:
  std::vector<std::vector<std::size_t>> before_;
  std::vector<std::size_t> late_from_;  ///< its first instruction that may know what was read
  std::vector<bool> decided_;           ///< whether it runs depends on inputs
  // Per id:
  std::vector<std::uint32_t> roots_;  ///< the variable of a pointer or an image; 0: it is neither
  std::vector<bool> is_result_;       ///< of an instruction of main()
  std::vector<bool>
      of_inputs_;  ///< whether it is computed from inputs, or a variable that holds such a value
  std::set<std::uint32_t> handles_;        ///< variables that hold images
  std::set<std::uint32_t> kept_, inputs_;  ///< variables at bindings
  std::set<std::uint32_t> told_;           ///< shared variables that are written late
};

}  // namespace

std::optional<LateUse> late_use_of_inputs(std::span<const std::uint32_t> words,
                                          const std::set<std::uint32_t>& kept) {
  return Analysis(flow_of(words), kept).first_late_use();
}

}  // namespace assay::gpu
