#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace assay::cases {

/// Returns the new name of a renamed tunable, or nothing. Case files with an old name are refused with a
/// message that gives the new one. This is the only list of such names.
std::optional<std::string> renamed_tunable(std::string_view old_name);

}  // namespace assay::cases
