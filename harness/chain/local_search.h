#pragma once

#include "harness/chain/net.h"

namespace assay::chain {

/// Improves choices node by node, in order and again and again, until no other choice of a single node lowers
/// the cost (or, at equal cost, the number of transitions, then the choice's number). Ends where nothing
/// improves.
std::vector<std::size_t> improved_choices(const Net& net, std::vector<std::size_t> choices);

}  // namespace assay::chain
