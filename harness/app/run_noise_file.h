#pragma once

#include "harness/report/compare/run_noise.h"

#include <filesystem>
#include <vector>

namespace assay::app {

/// The pairs of a file that `assay compare --keep-run-noise` has written. Throws Error(Usage) where it cannot
/// be read.
std::vector<RunPair> pairs_in(const std::filesystem::path& file);

/// What they tell; of an empty path nothing.
RunNoise read_run_noise(const std::filesystem::path& file);

}  // namespace assay::app
