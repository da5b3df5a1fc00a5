#include "harness/chain/optimal_plan.h"

#include "harness/chain/local_search.h"
#include "harness/chain/plan_cost.h"
#include "harness/chain/tensor_factors.h"

#include <algorithm>
#include <cmath>

namespace assay::chain {
namespace {

std::size_t choice_at(const NodeVariables& node, const std::vector<std::size_t>& domains,
                      const std::vector<std::size_t>& values) {
  std::size_t index = 0;
  for (const std::size_t variable : node.variables) index = index * domains[variable] + values[variable];
  return node.choice_of[index];
}

/// Returns the choices of least cost; nothing where the tables would be too large.
std::optional<std::vector<std::size_t>> exact_choices(const Net& net, const EliminationLimits& limits) {
  FactorProblem factors;
  std::vector<NodeVariables> nodes;
  for (const PlanProblem::Node& node : net.problem.nodes) {
    nodes.push_back(node_variables(node, factors.domains));
    factors.factors.push_back(std::move(nodes.back().cost));
  }
  for (std::size_t tensor = 0; tensor < net.tensors(); ++tensor) {
    if (!add_tensor_factors(net, tensor, nodes, factors)) return std::nullopt;
  }
  const std::vector<std::size_t> domains = factors.domains;
  const auto values = least_sum(std::move(factors), limits);
  if (!values) return std::nullopt;
  std::vector<std::size_t> choices;
  for (const NodeVariables& node : nodes) choices.push_back(choice_at(node, domains, *values));
  return choices;
}

}  // namespace

Plan optimal_plan(const Net& net, const std::vector<Plan>& start, const EliminationLimits& limits) {
  std::vector<Plan> plans = start;
  const std::optional<std::vector<std::size_t>> exact = exact_choices(net, limits);
  if (exact) {
    plans.push_back(plan_of(net, *exact));
  } else {
    for (const Plan& plan : start) plans.push_back(plan_of(net, improved_choices(net, plan.choices)));
  }
  Plan best = *std::ranges::min_element(plans, is_better);
  best.is_exact = exact.has_value();
  return best;
}

}  // namespace assay::chain
