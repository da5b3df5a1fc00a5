#pragma once

#include "harness/base/error.h"
#include "harness/cases/scalars.h"
#include "harness/cases/yaml_tree.h"
#include "harness/op/params.h"

#include <span>
#include <string>

namespace assay::cases {

/// Where a value was written: the caret of its errors, and the value for carets under keys inside it.
struct Origin {
  const Node* caret = nullptr;
  const Node* value = nullptr;
};

/// A value of YAML as the parameter that `spec` declares, checked. Throws Problem; `names_of_sets` are
/// offered when a text stands where none can.
Value to_value(const ParamSpec& spec, const Origin& origin, std::span<const std::string> names_of_sets);

/// The Problem of a ParameterError about the parameter `name`, which was written at `origin`: the caret
/// stands under the key that the error's path names ("x.scale"), or under the parameter.
Problem problem_of(const ParameterError& error, const std::string& name, const Origin& origin);

}  // namespace assay::cases
