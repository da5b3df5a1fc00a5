#pragma once

#include "harness/cases/param_value.h"

#include <span>
#include <string>
#include <string_view>

namespace assay::cases {

/// "model", "layer", "calls": which layer of which model a case stands for. Words for reports: no data, no
/// reference and no impl depends on them.
std::span<const std::string> model_keys();
bool is_model_key(std::string_view key);

/// What one of them says: a text, or for `calls` an integer above 0. Throws Problem.
Value read_model_key(const std::string& key, const Origin& origin);

}  // namespace assay::cases
