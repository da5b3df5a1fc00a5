#pragma once

#include "harness/report/compare/compare.h"
#include "harness/report/compare/run_noise.h"

#include <vector>

namespace assay {

/// The pairs that a comparison of one run a side shows, one a device. Rows of different programs, and those
/// whose clock probes explain what differs, tell nothing of it, nor does a run beside itself.
std::vector<RunPair> run_pairs_of(const RunComparison& comparison);

}  // namespace assay
