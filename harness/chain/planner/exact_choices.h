#pragma once

#include "harness/chain/planner/elimination.h"
#include "harness/chain/planner/net_part.h"

namespace assay::chain {

/// Returns the choices of all nodes that cost the least of those that differ in the part alone; nothing if
/// the tables of the variable elimination would exceed the limits.
std::optional<std::vector<std::size_t>> exact_choices(const NetPart& part, const EliminationLimits& limits);

}  // namespace assay::chain
