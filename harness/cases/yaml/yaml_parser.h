#pragma once

#include "harness/cases/yaml/yaml_tree.h"

#include <cstdint>

namespace assay::cases {

/// Parses a file of one YAML document; returns null if the file has no value at all. Throws Problem for YAML
/// syntax errors, a second document, explicit tags, an alias inside its own anchor, and for what exceeds the
/// limits; aliases are counted, never expanded. Flaws are noted in the nodes. `file` must outlive the nodes.
const Node* parse_yaml(const SourceFile& file, Arena& arena, const TreeLimits& limits = {});

}  // namespace assay::cases
