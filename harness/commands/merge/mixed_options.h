#pragma once

#include "harness/commands/run_options.h"

#include <optional>
#include <string>

namespace assay::app {

/// "their --budget is 1 and 0.02": the options that change rows or their results and differ between two
/// command lines, for a sentence; nullopt if these runs may be parts of one. Output folders, shards and
/// numbers of threads may differ; devices, files and seeds are compared elsewhere, by their actual values.
std::optional<std::string> mixed_options(const RunOptions& one, const RunOptions& other);

}  // namespace assay::app
