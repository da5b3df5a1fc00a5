#pragma once

#include "harness/external/manifest/fields.h"

namespace assay::external {

/// Reads the impls of a manifest whose other parts were read. Throws Problem with everything that is wrong.
std::vector<DeclaredImpl> read_impls(const Node::Entry& entry, const Manifest& manifest, const Scope& params);

}  // namespace assay::external
