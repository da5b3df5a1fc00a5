#pragma once

#include "harness/external/manifest/fields.h"
#include "harness/external/manifest/manifest.h"

namespace assay::external {

/// Reads who answers, for an op of these parameters and tensors, which are read already. Throws Problem.
DeclaredReference read_reference(const Node::Entry& entry, const Manifest& so_far, const Scope& scope);

}  // namespace assay::external
