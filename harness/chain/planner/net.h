#pragma once

#include "harness/chain/planner/plan.h"

namespace assay::chain {

/// The place of a tensor in a node: `slot` is the index of its form in Choice::forms.
struct Slot {
  std::size_t node = 0, slot = 0;
};

/// A problem together with the nodes at both ends of every tensor.
struct Net {
  const PlanProblem& problem;
  std::vector<std::optional<Slot>> producers;  ///< per tensor; nothing: it is given
  std::vector<std::vector<Slot>> consumers;    ///< per tensor

  std::size_t nodes() const { return problem.nodes.size(); }
  std::size_t tensors() const { return problem.tensors.size(); }
  std::size_t forms_of(std::size_t tensor) const { return problem.tensors[tensor].copy_cost.size(); }
};

/// Returns the tensor of a node's slot: its inputs, then its outputs.
inline std::size_t tensor_at(const PlanProblem::Node& node, std::size_t slot) {
  return slot < node.inputs.size() ? node.inputs[slot] : node.outputs[slot - node.inputs.size()];
}

inline std::size_t slots_of(const PlanProblem::Node& node) {
  return node.inputs.size() + node.outputs.size();
}

/// Returns the net of a problem, which must outlive it. Throws std::logic_error where the problem is
/// malformed: wrong counts, indices out of range, costs that are negative or not numbers, a tensor without a
/// producer or with two, a consumer before its producer, a node without choices.
Net checked_net(const PlanProblem& problem);

}  // namespace assay::chain
