#pragma once

#include "harness/chain/node_variables.h"

namespace assay::chain {

/// Adds what the copies of a tensor cost, as factors over the variables of the nodes at its ends. For few
/// consumers that is one factor. For many, its table would be too large: a variable is added for the set of
/// forms that are copied, one factor for the cost of that set, and one factor for each consumer, which is
/// impossible where its form is missing. Returns false if that would be too large too: many consumers of very
/// many forms.
bool add_tensor_factors(const Net& net, std::size_t tensor, const std::vector<NodeVariables>& nodes,
                        FactorProblem& factors);

}  // namespace assay::chain
