#pragma once

#include "harness/chain/planner/elimination.h"
#include "harness/chain/planner/net.h"

namespace assay::chain {

/// Returns the plan of least cost, found by variable elimination; not one that costs more than `start`. If
/// the elimination's tables would exceed `limits`, the plan is the best of `start`, improved by local search
/// (local_search.h), and is_exact is false. The cost is infinite if no finite plan was found.
Plan optimal_plan(const Net& net, const std::vector<Plan>& start, const EliminationLimits& limits = {});

}  // namespace assay::chain
