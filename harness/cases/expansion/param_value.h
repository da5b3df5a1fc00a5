#pragma once

#include "harness/base/error.h"
#include "harness/cases/yaml/scalars.h"
#include "harness/cases/yaml/yaml_tree.h"
#include "harness/op/params.h"

#include <span>
#include <string>

namespace assay::cases {

/// Where a value was written: `caret` is the place of its errors, `value` finds the keys inside it.
struct Origin {
  const Node* caret = nullptr;
  const Node* value = nullptr;
};

/// Converts a YAML value to the parameter that `spec` declares, and checks it. Throws Problem; it suggests
/// `names_of_sets` if there is text where the parameter accepts none.
Value to_value(const ParamSpec& spec, const Origin& origin, std::span<const std::string> names_of_sets);

/// Turns a ParameterError about the parameter `name`, written at `origin`, into a Problem. The caret points
/// to the key that the error's path names ("x.scale"), or to the parameter.
Problem problem_of(const ParameterError& error, const std::string& name, const Origin& origin);

}  // namespace assay::cases
