#pragma once

#include "harness/cases/expectation.h"
#include "harness/cases/yaml_tree.h"

#include <string>

namespace assay::cases {

/// The entry of that key; throws Problem at `caret` where there is none.
const Node::Entry& required(const Node& map, const std::string& key, const Node& caret);

/// A text that is not empty, or a Problem.
const std::string& filled_text(const Node::Entry& entry);

/// One rule of an expectation file. Throws Problem.
Expectation read_expectation(const Node& node);

}  // namespace assay::cases
