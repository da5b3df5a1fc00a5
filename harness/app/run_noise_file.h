#pragma once

#include "harness/report/compare/run_noise.h"

#include <filesystem>
#include <vector>

namespace assay::app {

/// The pairs in a file that `assay compare --keep-run-noise` wrote. Throws Error(Usage) if it cannot be read.
std::vector<RunPair> pairs_in(const std::filesystem::path& file);

/// The run noise in such a file; none for an empty path.
RunNoise read_run_noise(const std::filesystem::path& file);

}  // namespace assay::app
