#include "harness/chain/planner/plan_cost.h"

#include "harness/chain/planner/ascending.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace assay::chain {

void keep_targets(std::vector<std::size_t>& forms, std::size_t from) {
  sort_each_once(forms);
  std::erase(forms, from);
}

Score score_of_copies(const PlanProblem::Tensor& tensor, std::size_t from,
                      const std::vector<std::size_t>& targets) {
  Score score;
  for (const std::size_t to : targets) score += score_of_copy(tensor.copy_cost[from][to]);
  return score;
}

std::size_t form_at(const Net& net, const Slot& slot, const std::vector<std::size_t>& choices) {
  return net.problem.nodes[slot.node].choices[choices[slot.node]].forms[slot.slot];
}

std::size_t form_made(const Net& net, std::size_t tensor, const std::vector<std::size_t>& choices) {
  const std::optional<Slot>& producer = net.producers[tensor];
  return producer ? form_at(net, *producer, choices) : net.problem.tensors[tensor].given.value();
}

void find_targets(const Net& net, std::size_t tensor, const std::vector<std::size_t>& choices,
                  std::vector<std::size_t>& targets) {
  targets.clear();
  for (const Slot& consumer : net.consumers[tensor]) targets.push_back(form_at(net, consumer, choices));
  if (const auto& wanted = net.problem.tensors[tensor].wanted) targets.push_back(*wanted);
  keep_targets(targets, form_made(net, tensor, choices));
}

Plan plan_of(const Net& net, std::vector<std::size_t> choices) {
  Plan plan{.choices = std::move(choices)};
  std::vector<std::size_t> targets;
  for (std::size_t tensor = 0; tensor < net.tensors(); ++tensor) {
    find_targets(net, tensor, plan.choices, targets);
    const std::size_t from = form_made(net, tensor, plan.choices);
    plan.cost += score_of_copies(net.problem.tensors[tensor], from, targets).cost;
    for (const std::size_t to : targets) plan.copies.push_back({.tensor = tensor, .from = from, .to = to});
  }
  for (std::size_t node = 0; node < net.nodes(); ++node) {
    plan.cost += net.problem.nodes[node].choices[plan.choices[node]].cost;
  }
  plan.transitions = static_cast<int>(plan.copies.size());
  return plan;
}

bool is_better(const Plan& plan, const Plan& other) {
  const auto sum = [](const std::vector<std::size_t>& numbers) {
    return std::accumulate(numbers.begin(), numbers.end(), std::size_t{0});
  };
  const std::size_t mine = sum(plan.choices);
  const std::size_t others = sum(other.choices);
  return std::tie(plan.cost, plan.transitions, mine, plan.choices) <
         std::tie(other.cost, other.transitions, others, other.choices);
}

}  // namespace assay::chain
