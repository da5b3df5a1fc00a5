#pragma once

#include "harness/cases/point.h"
#include "harness/cases/problems.h"
#include "harness/cases/yaml_tree.h"

#include <string>
#include <vector>

namespace assay::cases {

/// "name", "mode", "tier", "cache", "timeout": keys of a case that are no axes.
const std::vector<std::string>& head_keys();

/// Reads them out of the entries of a case, its defaults included; op and seed are left to the caller. What
/// is wrong is added to `problems`, and has its default then.
CaseHead read_case_head(const Node& node, const std::vector<Node::Entry>& entries, Problems& problems);

}  // namespace assay::cases
