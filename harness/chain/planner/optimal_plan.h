#pragma once

#include "harness/chain/planner/elimination.h"
#include "harness/chain/planner/net.h"

namespace assay::chain {

/// Returns the plan of least cost, found by variable elimination; not one that costs more than `start`. If
/// the elimination's tables would exceed `limits`, the plan is the best of `start`, improved by local search,
/// and is_exact is false. The cost is infinite if no finite plan was found.
Plan optimal_plan(const Net& net, const std::vector<Plan>& start, const EliminationLimits& limits = {});

/// Improves a plan until nothing improves, or for 8 rounds of two steps:
/// - node by node, until no node improves: the best choice of the node, given all others (coordinate
/// descent);
/// - window by window: the best choices of up to 64 consecutive nodes, given all others, by variable
/// elimination.
///   A window whose tables would exceed the limits is halved.
/// The result never costs more than `plan`.
Plan improved_plan(const Net& net, const Plan& plan,
                   const EliminationLimits& window_limits = {.largest_table = 1 << 16,
                                                             .all_tables = 1 << 18});

}  // namespace assay::chain
