#pragma once

#include "harness/chain/planner/net.h"
#include "harness/chain/planner/score.h"

namespace assay::chain {

/// Makes `forms` the list of forms into which a copy is made: each once, ascending, without the form `from`.
void keep_targets(std::vector<std::size_t>& forms, std::size_t from);

/// Returns the score of the copies of a tensor from form `from` to `targets`.
Score score_of_copies(const PlanProblem::Tensor& tensor, std::size_t from,
                      const std::vector<std::size_t>& targets);

/// Returns the form that the choices give a node's slot.
std::size_t form_at(const Net& net, const Slot& slot, const std::vector<std::size_t>& choices);

/// Returns the form in which the tensor is produced or given.
std::size_t form_made(const Net& net, std::size_t tensor, const std::vector<std::size_t>& choices);

/// Makes `targets` the list of forms into which the tensor is copied.
void find_targets(const Net& net, std::size_t tensor, const std::vector<std::size_t>& choices,
                  std::vector<std::size_t>& targets);

/// Returns the plan with these choices, one per node; its cost may be infinite.
Plan plan_of(const Net& net, std::vector<std::size_t> choices);

/// Returns whether a plan comes before another: by cost, transitions, sum of its choices' numbers, its
/// choices.
bool is_better(const Plan& plan, const Plan& other);

}  // namespace assay::chain
