#include "harness/chain/planner/optimal_plan.h"

#include "harness/chain/planner/exact_choices.h"
#include "harness/chain/planner/local_search.h"
#include "harness/chain/planner/plan_cost.h"

#include <algorithm>

namespace assay::chain {

Plan optimal_plan(const Net& net, const std::vector<Plan>& start, const EliminationLimits& limits) {
  std::vector<Plan> plans = start;
  const std::vector<std::size_t> first_choices(net.nodes());
  const auto exact = exact_choices({.net = net, .end = net.nodes(), .choices = first_choices}, limits);
  // The tables' sums may round differently, so that plans of one cost seem to differ: the last word is
  // plan_of()'s.
  if (exact) {
    plans.push_back(plan_of(net, *exact));
  } else {
    for (const Plan& plan : start) plans.push_back(improved_plan(net, plan));
  }
  Plan best = *std::ranges::min_element(plans, is_better);
  best.is_exact = exact.has_value();
  return best;
}

}  // namespace assay::chain
