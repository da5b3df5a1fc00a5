#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace assay::cases {

/// What a tunable of that name is called now, or nothing: case files that say the old name are refused with
/// the new one. The one list of such names.
std::optional<std::string> renamed_tunable(std::string_view old_name);

}  // namespace assay::cases
