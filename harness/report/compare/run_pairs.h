#pragma once

#include "harness/report/compare/compare.h"
#include "harness/report/compare/run_noise.h"

#include <vector>

namespace assay {

/// The pairs of runs in a comparison with one run per side, one per device. Rows of different programs, rows
/// whose clock probes explain the difference, and a run compared with itself do not count.
std::vector<RunPair> run_pairs_of(const RunComparison& comparison);

}  // namespace assay
