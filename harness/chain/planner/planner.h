#pragma once

#include "harness/chain/planner/plan.h"

namespace assay::chain {

/// Chooses the forms of all tensors. The same problem gives the same plan. Of plans that cost the same,
/// Optimal returns the one with the fewest transitions, then the one whose choices are the earliest: with the
/// least sum of their numbers. Costs are sums of doubles: they tie exactly where they are whole numbers, as
/// bytes are. Throws std::logic_error if the problem is malformed, and NoFinitePlan if the mode finds no plan
/// of finite cost.
Plan make_plan(const PlanProblem& problem, PlanMode mode);

}  // namespace assay::chain
