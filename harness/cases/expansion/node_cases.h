#pragma once

#include "harness/cases/case.h"

#include <span>
#include <vector>

namespace assay {

/// The cases whose times plan a chain by time (impl `fastest`): for every case of a chain, its nodes alone in
/// each combination of forms that they declare, and the copies of its tensors from form to form. Equal points
/// of several chains are one case. Cases of other ops are left out.
///
/// They are of mode perf, named by the chain case's id without its impl, then the node or the tensor that is
/// copied, with the case's seed and timeout, the lowest tier of the cases that share them, and default fills.
/// A node's scales suit what its chain gives it, not these fills: so answers that prove little, as saturated
/// ones, are accepted.
std::vector<Case> node_cases(std::span<const Case> cases);

}  // namespace assay
