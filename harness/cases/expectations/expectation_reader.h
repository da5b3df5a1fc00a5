#pragma once

#include "harness/cases/expectations/expectation.h"
#include "harness/cases/yaml/yaml_tree.h"

#include <string>

namespace assay::cases {

/// Returns the entry with that key. Throws Problem at `caret` if there is none.
const Node::Entry& required(const Node& map, const std::string& key, const Node& caret);

/// Returns the entry's text. Throws Problem if it is empty.
const std::string& filled_text(const Node::Entry& entry);

/// Reads one rule of an expectation file. Throws Problem.
Expectation read_expectation(const Node& node);

}  // namespace assay::cases
