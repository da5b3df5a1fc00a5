#include "harness/gpu/spirv/late_use.h"

#include "harness/gpu/spirv/flow_values.h"
#include "harness/gpu/spirv/spirv_flow.h"
#include "harness/gpu/spirv/spirv_outline.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <utility>
#include <vector>

namespace assay::gpu {
namespace {

/// What may run before or after an instruction, the border: whole blocks, and a part of the border's block.
/// In a loop that block is wholly in what may run after it.
struct Region {
  std::vector<bool> blocks;  ///< those that are in it as a whole
  FlowPlace border;
  bool is_before = false;  ///< which part of the border's block is in it, if not all of it

  bool has(const FlowPlace& place) const {
    if (blocks[place.block]) return true;
    if (place.block != border.block) return false;
    return is_before ? place.number < border.number : place.number > border.number;
  }
};

/// Whether a built-in variable is the same for all invocations of a workgroup.
bool is_of_workgroup(std::optional<std::uint32_t> built_in) {
  constexpr std::array<std::uint32_t, 2> known{spv::BuiltInWorkgroupId, spv::BuiltInNumWorkgroups};
  return built_in && std::ranges::find(known, *built_in) != known.end();
}

/// Whether a result may depend on which other invocations of the subgroup take part, and on their values.
bool is_of_subgroup(std::uint16_t opcode) {
  const bool is_core = opcode >= spv::OpGroupNonUniformElect && opcode <= spv::OpGroupNonUniformQuadSwap;
  return is_core || (opcode >= spv::OpSubgroupBallotKHR && opcode <= spv::OpSubgroupReadInvocationKHR);
}

bool is_undefined(std::uint16_t opcode) {
  return opcode == spv::OpUndef || opcode == spv::OpVectorExtractDynamic;  // past the vector's end
}

class Analysis {
 public:
  Analysis(SpirvFlow flow, const KeptBindings& kept)
      : flow_(std::move(flow)),
        access_(flow_),
        ends_(immediate_postdominators(flow_.blocks)),
        is_result_(flow_.first_free_id),
        is_written_(flow_.first_free_id),
        is_indexed_(flow_.first_free_id) {
    each_of(flow_, [&](const FlowInstruction& one, FlowPlace) {
      is_result_[one.result] = true;
      if (access_.writes(one)) is_written_[access_.root_of(one)] = true;
    });
    find_indexed();
    for (const auto& [id, variable] : flow_.variables) {
      if (!variable.binding) continue;
      (kept.all.contains(*variable.binding) ? kept_ : inputs_).insert(id);
      if (kept.counters.contains(*variable.binding)) counters_.insert(id);
    }
  }

  std::optional<LateUse> first_late_use() {
    if (!access_.is_understood()) return LateUse{"uses pointers in a way that is not understood", {}};
    std::optional<LateUse> found = LateUse{
        "has no barrier of the whole workgroup before it, which orders buffers, too, and after which inputs "
        "are not used",
        {}};
    each_of(flow_, [&](const FlowInstruction& one, FlowPlace place) {
      if (!found || !is_border(one)) return;
      const Region first = reached_before(place);
      if (reads_kept(first)) return;
      found = late_use_after(first, place);
    });
    return found;
  }

 private:
  bool reads_kept(const FlowInstruction& one) const {
    return access_.reads(one) && kept_.contains(access_.root_of(one));
  }

  bool reads_kept(const Region& region) const {
    bool found = false;
    each_of(flow_, [&](const FlowInstruction& one, FlowPlace place) {
      found = found || (region.has(place) && reads_kept(one));
    });
    return found;
  }

  bool reads_input(const FlowInstruction& one) const {
    return access_.reads(one) && inputs_.contains(access_.root_of(one));
  }

  std::optional<std::uint32_t> constant(std::uint32_t id) const {
    const auto found = flow_.constants.find(id);
    return found == flow_.constants.end() ? std::nullopt : std::optional(found->second);
  }

  /// Whether all invocations of a workgroup wait for each other, and memory of buffers is ordered.
  bool is_border(const FlowInstruction& one) const {
    if (one.opcode != spv::OpControlBarrier || one.ids.size() != 3) return false;
    const std::optional<std::uint32_t> scope = constant(one.ids[0]), memory = constant(one.ids[1]),
                                       semantics = constant(one.ids[2]);
    if (!scope || !memory || !semantics) return false;
    const auto has = [&](std::uint32_t bit) { return (*semantics & bit) != 0; };
    const bool is_wide = *memory == spv::ScopeWorkgroup || *memory == spv::ScopeDevice;
    const bool orders =
        has(spv::MemorySemanticsAcquireReleaseMask) || has(spv::MemorySemanticsSequentiallyConsistentMask);
    return *scope == spv::ScopeWorkgroup && is_wide && orders && has(spv::MemorySemanticsUniformMemoryMask);
  }

  /// What may run before the instruction at `border` has run for the first time.
  Region reached_before(FlowPlace border) const {
    Region region{.blocks = std::vector<bool>(flow_.blocks.size()), .border = border, .is_before = true};
    walk({0}, border.block, region);
    return region;
  }

  /// What may run after it.
  Region reached_from(FlowPlace border) const {
    Region region{.blocks = std::vector<bool>(flow_.blocks.size()), .border = border, .is_before = false};
    walk(flow_.blocks[border.block].next, flow_.blocks.size(), region);
    return region;
  }

  void walk(std::vector<std::size_t> open, std::size_t end, Region& region) const {
    while (!open.empty()) {
      const std::size_t block = open.back();
      open.pop_back();
      if (block == end || region.blocks[block]) continue;
      region.blocks[block] = true;
      open.insert(open.end(), flow_.blocks[block].next.begin(), flow_.blocks[block].next.end());
    }
  }

  std::optional<LateUse> late_use_after(const Region& first, FlowPlace border) {
    const Region late = reached_from(border);
    std::optional<LateUse> found;
    each_of(flow_, [&](const FlowInstruction& one, FlowPlace place) {
      if (!found && late.has(place) && reads_input(one))
        found = LateUse{"reads it", flow_.variables.at(access_.root_of(one)).binding};
    });
    if (found) return found;
    if (!all_meet(first, border))
      return LateUse{"waits at a barrier before it that not all invocations may reach", {}};
    if (!of_inputs_)
      of_inputs_.emplace(flow_, access_, ends_, [&](const FlowInstruction& one) { return reads_input(one); });
    each_of(flow_, [&](const FlowInstruction& one, FlowPlace place) {
      if (!found && late.has(place)) found = use_of(one, place.block, *of_inputs_);
    });
    return found;
  }

  /// Whether a value may differ between the invocations of a workgroup.
  bool is_varying(const FlowInstruction& one) const {
    if (is_undefined(one.opcode) || is_of_subgroup(one.opcode)) return true;
    if (!access_.reads(one)) return false;
    const std::uint32_t root = access_.root_of(one);
    const SpirvFlow::Variable& variable = flow_.variables.at(root);
    switch (variable.storage_class) {
      case spv::StorageClassFunction:
      case spv::StorageClassPrivate:  // what an index past the end of an array finds is unknown
        return !is_written_[root] || is_indexed_[one.ids.front()];
      case spv::StorageClassPushConstant:
        return false;
      case spv::StorageClassInput:
        return !is_of_workgroup(variable.built_in);
      default:
        return true;
    }
  }

  /// Whether all invocations reach the same barriers up to this one.
  bool all_meet(const Region& first, FlowPlace border) {
    if (!varying_)
      varying_.emplace(flow_, access_, ends_, [&](const FlowInstruction& one) { return is_varying(one); });
    bool all = true;
    each_of(flow_, [&](const FlowInstruction& one, FlowPlace place) {
      const bool is_barrier = one.opcode == spv::OpControlBarrier && (place == border || first.has(place));
      all = all && !(is_barrier && varying_->decides(place.block));
    });
    return all;
  }

  std::optional<LateUse> use_of(const FlowInstruction& one, std::size_t block,
                                const FlowDependence& of_inputs) const {
    if (of_inputs.takes(one, block)) return LateUse{"uses a value that it has computed from its inputs", {}};
    if (of_inputs.decides(block)) return LateUse{"goes on only for some values of its inputs", {}};
    const std::uint32_t root = access_.root_of(one);
    if (!access_.writes(one) || !kept_.contains(root)) return std::nullopt;
    if (!counters_.contains(root)) return LateUse{"stores in what is not set to zero for the next run", {}};
    if (!has_constants_alone(one)) return LateUse{"stores there what is no constant", {}};
    return std::nullopt;
  }

  /// Finds the pointers with an index that is no constant.
  void find_indexed() {
    for (bool changes = true; changes;) {
      changes = false;
      each_of(flow_, [&](const FlowInstruction& one, FlowPlace) {
        if (use_of_variable(one.opcode) != VariableUse::PassesOn || one.ids.empty() ||
            is_indexed_[one.result])
          return;
        if (!is_indexed_[one.ids.front()] && has_constants_alone(one)) return;
        changes = is_indexed_[one.result] = true;
      });
    }
  }

  /// Whether its operands but the first are constants.
  bool has_constants_alone(const FlowInstruction& one) const {
    return std::none_of(one.ids.begin() + 1, one.ids.end(), [&](std::uint32_t id) { return is_result_[id]; });
  }

  SpirvFlow flow_;
  FlowAccess access_;
  std::vector<std::size_t> ends_;
  // By id:
  std::vector<bool> is_result_;   ///< of an instruction of main()
  std::vector<bool> is_written_;  ///< a variable
  std::vector<bool> is_indexed_;  ///< a pointer
  std::optional<FlowDependence> of_inputs_, varying_;
  std::set<std::uint32_t> kept_, inputs_, counters_;  ///< variables
};

}  // namespace

std::optional<LateUse> late_use_of_inputs(std::span<const std::uint32_t> words, const KeptBindings& kept) {
  return Analysis(flow_of(words), kept).first_late_use();
}

}  // namespace assay::gpu
