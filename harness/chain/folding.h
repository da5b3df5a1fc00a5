#pragma once

#include "harness/chain/chain.h"

#include <span>
#include <vector>

namespace assay::chain {

/// Whether a node gives all values unchanged, in the same order.
bool only_copies(const ResolvedNode& node);

/// Whether a node leaves all values where they are, so that input and output may be one resource.
bool is_identity(const ResolvedNode& node, std::span<const Form> forms);

/// Of each tensor, whether it must be a resource of its own because a node reads it beside another tensor
/// that it is a copy of, or that is a copy of the same one: a dispatch binds a resource once.
std::vector<bool> read_beside_their_copies(const ResolvedChain& chain);

}  // namespace assay::chain
