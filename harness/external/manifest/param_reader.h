#pragma once

#include "harness/external/manifest/fields.h"

namespace assay::external {

/// Reads the parameters of a manifest. Throws Problem with everything that is wrong.
std::vector<ParamSpec> read_params(const Node::Entry& entry);

/// The names that expressions over parameters may use.
Scope scope_of(const std::vector<ParamSpec>& params);

}  // namespace assay::external
