#include "harness/chain/planner/planner.h"

#include "harness/chain/planner/greedy_plan.h"
#include "harness/chain/planner/net.h"
#include "harness/chain/planner/optimal_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace assay::chain {
namespace {

Plan naive_plan(const Net& net) {
  return plan_of(net, std::vector<std::size_t>(net.nodes()));
}
Plan greedy_plan(const Net& net) {
  return plan_of(net, greedy_choices(net));
}
Plan best_plan(const Net& net) {
  return optimal_plan(net, {naive_plan(net), greedy_plan(net)});
}

Plan plan_in_mode(const Net& net, PlanMode mode) {
  if (mode == PlanMode::Naive) return naive_plan(net);
  if (mode == PlanMode::Optimal) return best_plan(net);
  // A sweep cannot go back on a choice that made a later copy impossible.
  const Plan plan = greedy_plan(net);
  return std::isinf(plan.cost) ? best_plan(net) : plan;
}

std::optional<Plan::Transition> impossible_copy(const Net& net, const Plan& plan) {
  const auto is_impossible = [&](const Plan::Transition& copy) {
    return std::isinf(net.problem.tensors[copy.tensor].copy_cost[copy.from][copy.to]);
  };
  const auto found = std::ranges::find_if(plan.copies, is_impossible);
  return found == plan.copies.end() ? std::nullopt : std::optional(*found);
}

/// Says what is impossible in a plan of infinite cost.
std::string impossible_part(const Net& net, const Plan& plan) {
  if (const auto copy = impossible_copy(net, plan)) {
    return fmt::format("tensor {} cannot be copied from form {} to form {}", copy->tensor, copy->from,
                       copy->to);
  }
  for (std::size_t node = 0; node < net.nodes(); ++node) {
    const std::size_t number = plan.choices[node];
    if (!std::isinf(net.problem.nodes[node].choices[number].cost)) continue;
    return fmt::format("choice {} of node {} is impossible", number, node);
  }
  return "the sum of its costs overflows";
}

}  // namespace

Plan make_plan(const PlanProblem& problem, PlanMode mode) {
  const Net net = checked_net(problem);
  Plan plan = plan_in_mode(net, mode);
  if (!std::isinf(plan.cost)) return plan;
  const char* found = mode == PlanMode::Naive ? "the nodes' first choices are no finite plan"
                      : plan.is_exact         ? "there is no finite plan"
                                              : "no finite plan was found";
  throw NoFinitePlan(
      fmt::format("cannot plan this chain: {}: in the best one, {}", found, impossible_part(net, plan)),
      impossible_copy(net, plan));
}

}  // namespace assay::chain
