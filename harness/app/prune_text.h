#pragma once

#include "harness/app/prune_plan.h"

#include <cstdint>
#include <optional>
#include <string>

namespace assay::app {

/// The plan as lines: each folder with its decision, size and reason; totals for each device; the overall
/// total. `will`: a dry run, nothing is removed now.
std::string prune_text(const PrunePlan& plan, bool will, std::optional<std::uintmax_t> free_bytes);

}  // namespace assay::app
