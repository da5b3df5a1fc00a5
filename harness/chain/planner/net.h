#pragma once

#include "harness/chain/planner/plan.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace assay::chain {

/// Sorts numbers and keeps each once.
inline void sort_each_once(std::vector<std::size_t>& numbers) {
  std::ranges::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

/// A cost, and a rank among equal costs: fewer transitions first, then a smaller sum of the choices' numbers.
/// Scores add up, so the score of a plan is the sum of the scores of its parts.
struct Score {
  double cost = 0;
  std::int64_t rank = 0;  ///< transitions in the upper half, numbers of choices in the lower one

  Score& operator+=(const Score& other) {
    cost += other.cost;
    rank += other.rank;
    return *this;
  }
  bool operator<(const Score& other) const {
    return cost < other.cost || (cost == other.cost && rank < other.rank);
  }
};

inline constexpr Score impossible_score{.cost = std::numeric_limits<double>::infinity()};

inline Score score_of_copy(double cost) {
  return {.cost = cost, .rank = std::int64_t{1} << 32};
}

inline Score score_of_choice(double cost, std::size_t number) {
  return {.cost = cost, .rank = static_cast<std::int64_t>(number)};
}

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

/// Consecutive nodes of a net for which choices are sought, while the others keep theirs.
struct NetPart {
  const Net& net;
  std::size_t first = 0, end = 0;           ///< nodes
  const std::vector<std::size_t>& choices;  ///< of all nodes

  bool has(std::size_t node) const { return first <= node && node < end; }
};

/// Makes `forms` the list of forms into which a copy is made: each once, ascending, without the form `from`.
void keep_targets(std::vector<std::size_t>& forms, std::size_t from);

/// Returns the score of the copies of a tensor from form `from` to `targets`.
Score score_of_copies(const PlanProblem::Tensor& tensor, std::size_t from,
                      const std::vector<std::size_t>& targets);

/// Returns the form that the choices give a node's slot.
std::size_t form_at(const Net& net, const Slot& slot, const std::vector<std::size_t>& choices);

/// Returns the form in which the tensor is produced or given.
std::size_t form_made(const Net& net, std::size_t tensor, const std::vector<std::size_t>& choices);

/// Makes `targets` the list of forms into which the tensor is copied.
void find_targets(const Net& net, std::size_t tensor, const std::vector<std::size_t>& choices,
                  std::vector<std::size_t>& targets);

/// Returns the plan with these choices, one per node; its cost may be infinite.
Plan plan_of(const Net& net, std::vector<std::size_t> choices);

/// Returns whether a plan comes before another: by cost, transitions, sum of its choices' numbers, its
/// choices.
bool is_better(const Plan& plan, const Plan& other);

}  // namespace assay::chain
