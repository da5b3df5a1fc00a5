#pragma once

#include "harness/base/error.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay::chain {

/// A net as the planner sees it: the forms that each node takes, and what it costs to copy a tensor from one
/// form to another. Costs are numbers >= 0 of one unit (bytes read and written, or a time); infinity:
/// impossible.
struct PlanProblem {
  /// A tensor has one producer, a node or the outside, and any number of consumers.
  struct Tensor {
    /// The cost of a copy from form i to form j: copy_cost[i][j]. Forms are numbered per tensor. Nothing
    /// reads the diagonal: a tensor that already has a form is not copied.
    std::vector<std::vector<double>> copy_cost;
    std::optional<std::size_t> given;   ///< for outer inputs: the form in which the tensor arrives
    std::optional<std::size_t> wanted;  ///< for outer outputs: the form in which it must be left
  };
  struct Choice {
    std::vector<std::size_t> forms;  ///< of the node's inputs, then of its outputs
    double cost = 0;                 ///< what the node itself costs with these forms
  };
  struct Node {
    std::vector<std::size_t> inputs, outputs;  ///< tensors
    std::vector<Choice> choices;               ///< the first is the op's default
  };
  std::vector<Tensor> tensors;
  std::vector<Node> nodes;  ///< producers come before their consumers
};

enum class PlanMode : std::uint8_t {
  Naive,   ///< Every node takes its first choice.
  Greedy,  ///< A sweep from the first node to the last (greedy_plan.h).
  Optimal  ///< The least cost (optimal_plan.h).
};

struct Plan {
  /// A copy of a tensor. Every form that consumers need is made once, from the form that the producer left.
  struct Transition {
    std::size_t tensor = 0, from = 0, to = 0;
    bool operator==(const Transition&) const = default;
  };
  std::vector<std::size_t> choices;  ///< one per node
  double cost = 0;                   ///< of all copies and of all choices
  int transitions = 0;               ///< the number of copies
  bool is_exact = true;  ///< false: Optimal fell back to a search, which may have missed the least cost
  std::vector<Transition> copies;  ///< ordered by tensor, then by `to`
};

/// A net has no plan of finite cost.
class NoFinitePlan : public Error {
 public:
  NoFinitePlan(const std::string& message, std::optional<Plan::Transition> copy)
      : Error(message), copy_(copy) {}

  /// The impossible copy in the best plan that was found; nothing if something else is impossible.
  const std::optional<Plan::Transition>& copy() const { return copy_; }

 private:
  std::optional<Plan::Transition> copy_;
};

}  // namespace assay::chain
