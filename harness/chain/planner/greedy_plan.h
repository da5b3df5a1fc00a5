#pragma once

#include "harness/chain/planner/net.h"

#include <limits>

namespace assay::chain {

/// Says what lies ahead of a tensor in each of its forms: what its consumers will cost at least.
class LookAhead {
 public:
  explicit LookAhead(const Net& net);

  /// Returns for each form of a consumer's slot the least cost of a choice with that form: its own, what
  /// `other_cost` returns for the choice, and, if the form of the slot decides the forms of the outputs, what
  /// lies ahead of these.
  template <typename OtherCost>
  std::vector<double> costs_of(const Slot& consumer, const OtherCost& other_cost) const;

  /// Returns what lies ahead of each form of a tensor: the copy for the outside, and for each consumer by
  /// itself the least cost of a copy and of its choices.
  template <typename OtherCost>
  std::vector<double> ahead_of(std::size_t tensor, const OtherCost& other_cost) const;

 private:
  double beyond(const PlanProblem::Node& node, const PlanProblem::Choice& choice) const;
  std::vector<double> copies_for_outside(std::size_t tensor) const;
  void add_consumer(std::size_t tensor, const std::vector<double>& costs, std::vector<double>& ahead) const;

  const Net& net_;
  std::vector<std::vector<bool>> passes_on_;  ///< per node and input
  std::vector<std::vector<double>> ahead_;    ///< per tensor and form, without other costs
};

template <typename OtherCost>
std::vector<double> LookAhead::costs_of(const Slot& consumer, const OtherCost& other_cost) const {
  const PlanProblem::Node& node = net_.problem.nodes[consumer.node];
  const bool passes_on = passes_on_[consumer.node][consumer.slot];
  std::vector<double> costs(net_.forms_of(node.inputs[consumer.slot]),
                            std::numeric_limits<double>::infinity());
  for (const PlanProblem::Choice& choice : node.choices) {
    const double cost = choice.cost + other_cost(node, choice) + (passes_on ? beyond(node, choice) : 0);
    double& least = costs[choice.forms[consumer.slot]];
    if (cost < least) least = cost;
  }
  return costs;
}

template <typename OtherCost>
std::vector<double> LookAhead::ahead_of(std::size_t tensor, const OtherCost& other_cost) const {
  std::vector<double> ahead = copies_for_outside(tensor);
  for (const Slot& consumer : net_.consumers[tensor])
    add_consumer(tensor, costs_of(consumer, other_cost), ahead);
  return ahead;
}

/// Returns the choices of a sweep over the nodes in order. A node takes the choice with the least cost of its
/// own and of the copies that its inputs need; a copy that an earlier node needed too is free. Choices that
/// cost the same there, as those that differ in outputs alone, are compared by what lies ahead of each output
/// in its form:
/// - the copy for the outside, if the output is wanted in another form;
/// - for each consumer by itself, the least cost of a choice: its own, and that of copies of its inputs, this
/// one and
///   those that have been made already;
/// - through a consumer whose input's form decides its outputs' forms (a view, an addition of equal forms),
/// what lies
///   ahead of these, up to 8 nodes further; there only the copies of the tensor itself count.
/// What then still ties has the fewest copies for the inputs, then the first choice. Choices that lead to
/// impossible copies are taken only where there are no others; they can still come about, where two consumers
/// disagree.
std::vector<std::size_t> greedy_choices(const Net& net);

}  // namespace assay::chain
