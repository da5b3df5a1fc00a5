#include "harness/chain/local_search.h"

#include "harness/chain/plan_cost.h"

#include <algorithm>

namespace assay::chain {
namespace {

/// Stands for an infinite cost, so that fewer impossible copies are better than more.
constexpr double penalty = 1e150;
/// Sums in another order may round differently, and then choices could go round in circles.
constexpr int most_rounds = 1000;

class LocalSearch {
 public:
  LocalSearch(const Net& net, std::vector<std::size_t>& choices) : net_(net), choices_(choices) {}

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
    std::ranges::sort(tensors);
    tensors.erase(std::ranges::unique(tensors).begin(), tensors.end());
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

}  // namespace

std::vector<std::size_t> improved_choices(const Net& net, std::vector<std::size_t> choices) {
  LocalSearch search(net, choices);
  for (int round = 0; round < most_rounds; ++round) {
    bool has_improved = false;
    for (std::size_t node = 0; node < net.nodes(); ++node) has_improved |= search.improve(node);
    if (!has_improved) break;
  }
  return choices;
}

}  // namespace assay::chain
