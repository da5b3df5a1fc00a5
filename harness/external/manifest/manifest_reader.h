#pragma once

#include "harness/cases/yaml/yaml_tree.h"
#include "harness/external/manifest/manifest.h"

namespace assay::external {

/// Reads a manifest, whose root is a map with `op`; its cases and other keys of case files are left to the
/// case loader. Throws Problem with everything that is wrong in it.
Manifest read_manifest(const cases::Node& root);

}  // namespace assay::external
