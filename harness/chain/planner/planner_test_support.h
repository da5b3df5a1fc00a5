#pragma once

#include "harness/chain/planner/plan.h"

#include <limits>
#include <random>

namespace assay::test {

inline constexpr double impossible = std::numeric_limits<double>::infinity();

/// Returns a tensor of that many forms, whose copies all cost the same.
chain::PlanProblem::Tensor uniform_tensor(std::size_t forms, double cost);

/// Returns all combinations of `forms` forms for `tensors` tensors, in order, each at no cost.
std::vector<chain::PlanProblem::Choice> free_choices(std::size_t tensors, std::size_t forms);

/// Returns one choice per form: all tensors have that form.
std::vector<chain::PlanProblem::Choice> tied_choices(std::size_t tensors, std::size_t forms);

/// A net of residual blocks with that many nodes: convolution, activation, convolution, addition of the
/// block's input. Tensors have 5 forms; sizes, and with them costs, change from block to block. Convolutions
/// have 25 choices, each node other best ones; activations and additions take any forms (25, 125 choices) at
/// a cost where those differ.
chain::PlanProblem residual_net(std::size_t nodes);

/// What random nets may contain.
struct RandomNet {
  std::size_t most_nodes = 6;
  std::size_t most_choices = 4;
  double impossible_copies = 0;  ///< the share of copies
};

/// Returns a random net whose costs are small whole numbers, so that costs tie often.
chain::PlanProblem random_net(std::mt19937_64& random, const RandomNet& limits);

}  // namespace assay::test
