#pragma once

#include <span>
#include <string>
#include <string_view>

namespace assay::cases {

/// "model", "layer", "calls": which layer of which model a case stands for. Words for reports: no data, no
/// reference and no impl depends on them.
std::span<const std::string> model_keys();
bool is_model_key(std::string_view key);

}  // namespace assay::cases
