#pragma once

#include "harness/app/prune_plan.h"

#include <cstdint>
#include <optional>
#include <string>

namespace assay::app {

/// The plan in lines: what becomes of each folder, its bytes and why; each device in a line; all of it.
/// `will`: nothing is removed now.
std::string prune_text(const PrunePlan& plan, bool will, std::optional<std::uintmax_t> free_bytes);

}  // namespace assay::app
