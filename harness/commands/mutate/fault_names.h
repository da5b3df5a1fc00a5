#pragma once

#include "harness/commands/mutate/fault_result.h"

#include <string_view>

namespace assay::app {

std::string_view name_of(FaultEnd end);  ///< "killed", "does not compile", ...
/// Throws Error for another name.
FaultEnd parse_fault_end(std::string_view name);

}  // namespace assay::app
