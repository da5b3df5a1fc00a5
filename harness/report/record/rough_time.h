#pragma once

#include "harness/report/record/record.h"

#include <cstddef>
#include <string>

namespace assay {

/// The fewest blocks of samples that show how far a time varies. To judge speed, each side needs as many.
inline constexpr std::size_t fewest_blocks = 5;

/// A row that needs more than this, in percent, to show a difference is never called the same; a time with a
/// wider interval is rough.
inline constexpr double coarsest_pct = 10;

/// Why a time is rough, so that nothing should be decided from it: "only 3 blocks, of the 5 that are needed".
/// Empty: it is not.
std::string why_rough(const PerfResult& perf);

}  // namespace assay
