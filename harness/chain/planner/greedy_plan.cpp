#include "harness/chain/planner/greedy_plan.h"

#include "harness/chain/planner/look_ahead.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace assay::chain {
namespace {

class GreedySweep {
 public:
  explicit GreedySweep(const Net& net) : net_(net), look_ahead_(net), made_(net.tensors()) {
    for (std::size_t tensor = 0; tensor < net.tensors(); ++tensor) {
      exists_.emplace_back(net.forms_of(tensor), false);
      if (const auto& given = net.problem.tensors[tensor].given) make(tensor, *given);
    }
  }

  std::vector<std::size_t> choose() {
    std::vector<std::size_t> choices;
    for (std::size_t node = 0; node < net_.nodes(); ++node) choices.push_back(choose(node));
    return choices;
  }

 private:
  struct Needs {
    double cost = 0;
    int copies = 0;
  };

  void make(std::size_t tensor, std::size_t form) {
    made_[tensor] = form;
    exists_[tensor][form] = true;
    if (const auto& wanted = net_.problem.tensors[tensor].wanted) exists_[tensor][*wanted] = true;
  }

  std::size_t choose(std::size_t node) {
    const PlanProblem::Node& declared = net_.problem.nodes[node];
    std::vector<std::vector<double>> ahead;
    for (const std::size_t output : declared.outputs) ahead.push_back(ahead_of(output));
    const auto key = [&](const PlanProblem::Choice& choice) {
      const Needs needs = needs_of(declared, choice);
      double later = 0;
      for (std::size_t i = 0; i < ahead.size(); ++i)
        later += ahead[i][choice.forms[declared.inputs.size() + i]];
      return std::tuple(std::isinf(needs.cost + later), needs.cost, later, needs.copies);
    };
    const auto best = std::ranges::min_element(declared.choices, std::less<>(), key);
    take(declared, *best);
    return static_cast<std::size_t>(best - declared.choices.begin());
  }

  /// The cost of a node's choice and of the copies that it needs.
  Needs needs_of(const PlanProblem::Node& node, const PlanProblem::Choice& choice) const {
    Needs needs{.cost = choice.cost};
    for (std::size_t slot = 0; slot < node.inputs.size(); ++slot) {
      if (exists_[node.inputs[slot]][choice.forms[slot]] || is_repeated(node, choice, slot)) continue;
      needs.cost += copy_cost(node.inputs[slot], choice.forms[slot]);
      ++needs.copies;
    }
    return needs;
  }

  /// Whether a slot before that one takes the same tensor in the same form.
  static bool is_repeated(const PlanProblem::Node& node, const PlanProblem::Choice& choice,
                          std::size_t slot) {
    for (std::size_t earlier = 0; earlier < slot; ++earlier) {
      if (node.inputs[earlier] == node.inputs[slot] && choice.forms[earlier] == choice.forms[slot])
        return true;
    }
    return false;
  }

  double copy_cost(std::size_t tensor, std::size_t to) const {
    return net_.problem.tensors[tensor].copy_cost[made_[tensor].value()][to];
  }

  /// What lies ahead of a tensor that is about to be made, given the tensors that have been.
  std::vector<double> ahead_of(std::size_t tensor) const {
    return look_ahead_.ahead_of(tensor,
                                [&](const PlanProblem::Node& node, const PlanProblem::Choice& choice) {
                                  double sum = 0;
                                  for (std::size_t slot = 0; slot < node.inputs.size(); ++slot) {
                                    const std::size_t input = node.inputs[slot];
                                    if (made_[input] && !exists_[input][choice.forms[slot]])
                                      sum += copy_cost(input, choice.forms[slot]);
                                  }
                                  return sum;
                                });
  }

  void take(const PlanProblem::Node& node, const PlanProblem::Choice& choice) {
    for (std::size_t slot = 0; slot < node.inputs.size(); ++slot)
      exists_[node.inputs[slot]][choice.forms[slot]] = true;
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      make(node.outputs[i], choice.forms[node.inputs.size() + i]);
    }
  }

  const Net& net_;
  LookAhead look_ahead_;
  std::vector<std::optional<std::size_t>> made_;  ///< per tensor, the form that its producer left
  std::vector<std::vector<bool>> exists_;  ///< per tensor and form: made, or copied for the outside or a node
};

}  // namespace

std::vector<std::size_t> greedy_choices(const Net& net) {
  return GreedySweep(net).choose();
}

}  // namespace assay::chain
