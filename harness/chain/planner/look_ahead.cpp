#include "harness/chain/planner/look_ahead.h"

#include <algorithm>
#include <span>

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

}  // namespace assay::chain
