#pragma once

#include "harness/chain/planner/net.h"

namespace assay::chain {

/// Returns the choices of a sweep over the nodes in order. A node takes the choice with the least cost of its
/// own and of the copies that its inputs need; a copy that an earlier node needed too is free. Choices that
/// cost the same there, as those that differ in outputs alone, are compared by what lies ahead of each output
/// in its form:
/// - the copy for the outside, if the output is wanted in another form;
/// - for each consumer by itself, the least cost of a choice: its own, and that of copies of its inputs, this
/// one and
///   those that have been made already;
/// - through a consumer whose input's form decides its outputs' forms (a view, an addition of equal forms),
/// what lies
///   ahead of these, up to 8 nodes further; there only the copies of the tensor itself count.
/// What then still ties has the fewest copies for the inputs, then the first choice. Choices that lead to
/// impossible copies are taken only where there are no others; they can still come about, where two consumers
/// disagree.
std::vector<std::size_t> greedy_choices(const Net& net);

}  // namespace assay::chain
