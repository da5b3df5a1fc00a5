#include "harness/chain/planner/optimal_plan.h"

#include "harness/chain/planner/exact_choices.h"
#include "harness/chain/planner/net.h"

#include <algorithm>

namespace assay::chain {
namespace {

/// Stands for an infinite cost, so that fewer impossible copies are better than more.
constexpr double penalty = 1e150;
/// Sums in another order may round differently, and then choices could go round in circles.
constexpr int most_sweeps = 1000;

constexpr std::size_t window_nodes = 64;
constexpr std::size_t window_step = 24;  // every node is once far from both ends
constexpr int most_rounds = 8;

class NodeSearch {
 public:
  NodeSearch(const Net& net, std::vector<std::size_t>& choices) : net_(net), choices_(choices) {}

  bool improve(std::size_t node) {
    const std::vector<std::size_t> tensors = tensors_of(node);
    const std::size_t before = choices_[node];
    std::size_t best = before;
    Score least = score(node, tensors);
    for (std::size_t number = 0; number < net_.problem.nodes[node].choices.size(); ++number) {
      choices_[node] = number;
      const Score other = score(node, tensors);
      if (!(other < least)) continue;
      least = other;
      best = number;
    }
    choices_[node] = best;
    return best != before;
  }

 private:
  std::vector<std::size_t> tensors_of(std::size_t node) const {
    std::vector<std::size_t> tensors = net_.problem.nodes[node].inputs;
    const std::vector<std::size_t>& outputs = net_.problem.nodes[node].outputs;
    tensors.insert(tensors.end(), outputs.begin(), outputs.end());
    sort_each_once(tensors);
    return tensors;
  }

  /// The part of the plan's score that depends on the node's choice.
  Score score(std::size_t node, const std::vector<std::size_t>& tensors) {
    const std::size_t number = choices_[node];
    Score sum = score_of_choice(std::min(net_.problem.nodes[node].choices[number].cost, penalty), number);
    for (const std::size_t tensor : tensors) {
      find_targets(net_, tensor, choices_, targets_);
      const std::vector<double>& costs =
          net_.problem.tensors[tensor].copy_cost[form_made(net_, tensor, choices_)];
      for (const std::size_t to : targets_) sum += score_of_copy(std::min(costs[to], penalty));
    }
    return sum;
  }

  const Net& net_;
  std::vector<std::size_t>& choices_;
  std::vector<std::size_t> targets_;
};

std::vector<std::size_t> improved_by_node(const Net& net, const Plan& plan) {
  std::vector<std::size_t> choices = plan.choices;
  NodeSearch search(net, choices);
  for (int sweep = 0; sweep < most_sweeps; ++sweep) {
    bool has_improved = false;
    for (std::size_t node = 0; node < net.nodes(); ++node) has_improved |= search.improve(node);
    if (!has_improved) break;
  }
  return choices;
}

/// Improves the choices of nodes from `first` on; where their tables are too large, those of each half.
void improve_window(const Net& net, std::size_t first, std::size_t end, const EliminationLimits& limits,
                    std::vector<std::size_t>& choices) {
  if (end - first < 2) return;
  if (auto better = exact_choices({.net = net, .first = first, .end = end, .choices = choices}, limits)) {
    choices = std::move(*better);
    return;
  }
  const std::size_t middle = first + (end - first) / 2;
  improve_window(net, first, middle, limits, choices);
  improve_window(net, middle, end, limits, choices);
}

Plan improved_by_window(const Net& net, const EliminationLimits& limits, std::vector<std::size_t> choices) {
  for (std::size_t first = 0; first < net.nodes(); first += window_step) {
    improve_window(net, first, std::min(first + window_nodes, net.nodes()), limits, choices);
  }
  return plan_of(net, std::move(choices));
}

}  // namespace

Plan improved_plan(const Net& net, const Plan& plan, const EliminationLimits& window_limits) {
  Plan best = plan;
  for (int round = 0; round < most_rounds; ++round) {
    Plan other = improved_by_window(net, window_limits, improved_by_node(net, best));
    if (!is_better(other, best)) break;
    best = std::move(other);
  }
  return best;
}

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
