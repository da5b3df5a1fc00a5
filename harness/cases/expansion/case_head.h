#pragma once

#include "harness/cases/expansion/point.h"
#include "harness/cases/yaml/reporter.h"
#include "harness/cases/yaml/yaml_tree.h"

#include <string>
#include <vector>

namespace assay::cases {

/// Returns "name", "mode", "tier", "cache" and "timeout", the keys of a case that cannot be axes.
const std::vector<std::string>& head_keys();

/// Reads the head keys from the entries of a case, its defaults included; op and seed are left to the caller.
/// A bad value is added to `problems` and replaced by its default.
CaseHead read_case_head(const Node& node, const std::vector<Node::Entry>& entries, Problems& problems);

}  // namespace assay::cases
