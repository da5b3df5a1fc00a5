#pragma once

#include "harness/external/manifest/fields.h"

namespace assay::external {

/// Reads the tensors of a manifest, in their order. Throws Problem with everything that is wrong.
std::vector<DeclaredTensor> read_tensors(const Node::Entry& entry, const std::vector<ParamSpec>& params,
                                         const Scope& scope);

}  // namespace assay::external
