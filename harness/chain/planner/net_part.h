#pragma once

#include "harness/chain/planner/net.h"

namespace assay::chain {

/// Consecutive nodes of a net for which choices are sought, while the others keep theirs.
struct NetPart {
  const Net& net;
  std::size_t first = 0, end = 0;           ///< nodes
  const std::vector<std::size_t>& choices;  ///< of all nodes

  bool has(std::size_t node) const { return first <= node && node < end; }
};

}  // namespace assay::chain
