#pragma once

#include "harness/chain/elimination.h"
#include "harness/chain/net.h"

namespace assay::chain {

/// Improves a plan until nothing improves, or for 8 rounds of two steps:
/// - node by node, until no node improves: the best choice of the node, given all others (coordinate
/// descent);
/// - window by window: the best choices of up to 64 consecutive nodes, given all others, by variable
/// elimination. The result never costs more than `plan`.
Plan improved_plan(const Net& net, const Plan& plan);

}  // namespace assay::chain
