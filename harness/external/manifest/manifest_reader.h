#pragma once

#include "harness/cases/yaml/yaml_tree.h"
#include "harness/external/manifest/fields.h"
#include "harness/external/manifest/manifest.h"

namespace assay::external {

/// Reads the parameters of a manifest. Throws Problem with everything that is wrong.
std::vector<ParamSpec> read_params(const Node::Entry& entry);

/// The names that expressions over parameters may use.
Scope scope_of(const std::vector<ParamSpec>& params);

/// Reads who answers, for an op of these parameters and tensors, which are read already. Throws Problem.
DeclaredReference read_reference(const Node::Entry& entry, const Manifest& so_far, const Scope& scope);

/// Reads a manifest, whose root is a map with `op`; its cases and other keys of case files are left to the
/// case loader. Throws Problem with everything that is wrong in it.
Manifest read_manifest(const cases::Node& root);

}  // namespace assay::external
