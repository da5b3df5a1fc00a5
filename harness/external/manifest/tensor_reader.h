#pragma once

#include "harness/external/manifest/fields.h"

namespace assay::external {

/// Reads the tensors of a manifest, in their order. `has_class_elsewhere`: another op answers and says how
/// its outputs are checked. Throws Problem with everything that is wrong.
std::vector<DeclaredTensor> read_tensors(const Node::Entry& entry, const std::vector<ParamSpec>& params,
                                         const Scope& scope, bool has_class_elsewhere);

}  // namespace assay::external
