#pragma once

#include "harness/cases/expansion/load_options.h"
#include "harness/cases/yaml/yaml_tree.h"
#include "harness/op/op.h"

#include <string>
#include <vector>

namespace assay::cases {

/// Returns the keys of a file that declares a chain, besides those of all case files.
const std::vector<std::string>& chain_keys();

/// Reads the chain that a file declares, and checks it with the defaults of its parameters. Throws Problem
/// with all errors, each at its place.
Op read_chain(const Node& root, const Registry& registry, const LoadOptions& options = {});

}  // namespace assay::cases
