#pragma once

#include <span>
#include <string>
#include <string_view>

namespace assay::cases {

/// Returns "model", "layer" and "calls", which say which layer of which model a case stands for. They are
/// labels for reports: no data, reference or impl depends on them.
std::span<const std::string> model_keys();
bool is_model_key(std::string_view key);

}  // namespace assay::cases
