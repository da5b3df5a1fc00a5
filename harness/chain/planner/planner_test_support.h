#pragma once

#include "harness/chain/planner/plan.h"

#include <limits>
#include <random>
#include <string>

namespace assay::test {

inline constexpr double impossible = std::numeric_limits<double>::infinity();

/// Returns a tensor of that many forms, whose copies all cost the same.
chain::PlanProblem::Tensor uniform_tensor(std::size_t forms, double cost);

/// Returns all combinations of `forms` forms for `tensors` tensors, in order, each at no cost.
std::vector<chain::PlanProblem::Choice> free_choices(std::size_t tensors, std::size_t forms);

/// Returns one choice per form: all tensors have that form.
std::vector<chain::PlanProblem::Choice> tied_choices(std::size_t tensors, std::size_t forms);

/// Returns a tensor of that many forms, whose copies all cost the same, and which is given, or wanted, in one
/// form.
chain::PlanProblem::Tensor given_tensor(std::size_t forms, double cost, std::size_t form);
chain::PlanProblem::Tensor wanted_tensor(std::size_t forms, double cost, std::size_t form);

/// Tensors 0 to 3 with three nodes between them, which prefer form 1, 2, 1 and can take any one form on both
/// sides.
chain::PlanProblem chain_of_three();

/// x -> a -> t -> b -> u; add(u, t) -> y. The addition takes equal forms; b costs 25 in form 0.
chain::PlanProblem residual();

/// One tensor whose producer leaves form 0 or 1, and consumers that each insist on a form.
chain::PlanProblem fan_out(const std::vector<std::size_t>& consumer_forms);

/// Returns the price of choices, apart from the code under test.
double price(const chain::PlanProblem& net, const std::vector<std::size_t>& choices);

/// Returns whether another choice of one node would cost less.
bool can_be_improved(const chain::PlanProblem& net, const chain::Plan& plan);

/// Returns why make_plan() refuses the net; empty: it does not.
std::string complaint(const chain::PlanProblem& net, chain::PlanMode mode = chain::PlanMode::Optimal);

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
