#pragma once

#include "harness/gpu/spirv/spirv_flow.h"

#include <cstdint>
#include <functional>
#include <set>
#include <vector>

namespace assay::gpu {

/// Where an instruction stands.
struct FlowPlace {
  std::size_t block = 0, number = 0;
  friend bool operator==(const FlowPlace&, const FlowPlace&) = default;
};

/// Calls `visit` with each instruction and its place.
template <class Visit>
void each_of(const SpirvFlow& flow, const Visit& visit) {
  for (std::size_t block = 0; block < flow.blocks.size(); ++block) {
    const std::vector<FlowInstruction>& all = flow.blocks[block].instructions;
    for (std::size_t i = 0; i < all.size(); ++i) visit(all[i], FlowPlace{block, i});
  }
}

/// What the instructions of a flow, which must outlive this, do with variables.
class FlowAccess {
 public:
  explicit FlowAccess(const SpirvFlow& flow);

  /// The variable that a pointer or an image refers to, or an instruction's first operand; 0: none.
  std::uint32_t root_of(std::uint32_t id) const { return roots_[id]; }
  std::uint32_t root_of(const FlowInstruction& one) const {
    return one.ids.empty() ? 0 : roots_[one.ids.front()];
  }
  bool reads(const FlowInstruction& one) const;
  bool writes(const FlowInstruction& one) const;
  /// Whether no pointer is used in a way that is not known.
  bool is_understood() const;

 private:
  bool is_handle(const FlowInstruction& one) const;
  bool is_understood(const FlowInstruction& one) const;

  const SpirvFlow* flow_;
  std::vector<std::uint32_t> roots_;  ///< by id
  std::set<std::uint32_t> handles_;   ///< variables that hold images
};

/// What depends on the results of some instructions: on their values, or on branches that such values decide.
class FlowDependence {
 public:
  using IsSource = std::function<bool(const FlowInstruction&)>;

  /// The flow, its accesses and its immediate postdominators must outlive this.
  FlowDependence(const SpirvFlow& flow, const FlowAccess& access, const std::vector<std::size_t>& ends,
                 IsSource is_source);

  /// Whether an instruction's result, or what it stores, depends on them.
  bool takes(const FlowInstruction& one, std::size_t block) const;
  /// Whether they decide if a block runs.
  bool decides(std::size_t block) const { return decided_[block]; }

 private:
  void see(const FlowInstruction& one, std::size_t block);
  void set(std::uint32_t id);
  void spread();
  bool branches(std::size_t block) const;
  void decide_from(std::size_t branch);
  void see_decided(std::size_t block);

  const SpirvFlow& flow_;
  const FlowAccess& access_;
  const std::vector<std::size_t>& ends_;
  IsSource is_source_;
  std::vector<std::vector<std::size_t>> before_;  ///< by block
  std::vector<std::vector<FlowPlace>> users_;     ///< by id
  std::vector<bool> depends_;                     ///< by id
  std::vector<bool> decided_, has_decided_;       ///< by block; whether its branch was followed
  std::vector<std::uint32_t> open_;               ///< ids whose users are still to be seen
};

}  // namespace assay::gpu
