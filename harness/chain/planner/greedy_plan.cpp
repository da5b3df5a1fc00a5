#include "harness/chain/planner/greedy_plan.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <tuple>

namespace assay::chain {
namespace {

/// Sums of costs double where branches meet again, so the distance is bounded.
constexpr int most_nodes_further = 8;

std::span<const std::size_t> output_forms(const PlanProblem::Node& node, const PlanProblem::Choice& choice) {
  return std::span(choice.forms).subspan(node.inputs.size());
}

/// Returns whether choices with the same form of that input have the same forms of the outputs.
bool decides_outputs(const PlanProblem::Node& node, std::size_t input, std::size_t forms) {
  std::vector<const PlanProblem::Choice*> with_form(forms);
  return std::ranges::all_of(node.choices, [&](const PlanProblem::Choice& choice) {
    const PlanProblem::Choice*& first = with_form[choice.forms[input]];
    if (first == nullptr) first = &choice;
    return std::ranges::equal(output_forms(node, choice), output_forms(node, *first));
  });
}

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

LookAhead::LookAhead(const Net& net) : net_(net) {
  for (const PlanProblem::Node& node : net.problem.nodes) {
    std::vector<bool>& of_node = passes_on_.emplace_back();
    for (std::size_t input = 0; input < node.inputs.size(); ++input) {
      of_node.push_back(decides_outputs(node, input, net.forms_of(node.inputs[input])));
    }
  }
  for (std::size_t tensor = 0; tensor < net.tensors(); ++tensor)
    ahead_.emplace_back(net.forms_of(tensor), 0.0);
  const auto nothing_else = [](const PlanProblem::Node&, const PlanProblem::Choice&) { return 0.0; };
  for (int i = 0; i < most_nodes_further; ++i) {
    std::vector<std::vector<double>> further;
    for (std::size_t tensor = 0; tensor < net.tensors(); ++tensor)
      further.push_back(ahead_of(tensor, nothing_else));
    ahead_ = std::move(further);
  }
}

double LookAhead::beyond(const PlanProblem::Node& node, const PlanProblem::Choice& choice) const {
  double sum = 0;
  for (std::size_t output = 0; output < node.outputs.size(); ++output) {
    sum += ahead_[node.outputs[output]][output_forms(node, choice)[output]];
  }
  return sum;
}

std::vector<double> LookAhead::copies_for_outside(std::size_t tensor) const {
  const PlanProblem::Tensor& declared = net_.problem.tensors[tensor];
  std::vector<double> costs(declared.copy_cost.size());
  for (std::size_t form = 0; form < costs.size(); ++form) {
    if (declared.wanted.value_or(form) != form) costs[form] = declared.copy_cost[form][*declared.wanted];
  }
  return costs;
}

void LookAhead::add_consumer(std::size_t tensor, const std::vector<double>& costs,
                             std::vector<double>& ahead) const {
  for (std::size_t form = 0; form < ahead.size(); ++form) {
    double least = costs[form];
    for (std::size_t to = 0; to < costs.size(); ++to) {
      if (to != form) least = std::min(least, costs[to] + net_.problem.tensors[tensor].copy_cost[form][to]);
    }
    ahead[form] += least;
  }
}

std::vector<std::size_t> greedy_choices(const Net& net) {
  return GreedySweep(net).choose();
}

}  // namespace assay::chain
