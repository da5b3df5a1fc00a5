#pragma once

#include "harness/app/run_options.h"

#include <optional>
#include <string>

namespace assay::app {

/// "their --budget is 1 and 0.02": in which options that change what rows are or say two command lines
/// differ, for a sentence; nothing where runs of them may be parts of one. Where reports go, which part of
/// the rows is run and how many threads there are may differ; devices, files and seeds are compared by what
/// they were found to be.
std::optional<std::string> mixed_options(const RunOptions& one, const RunOptions& other);

}  // namespace assay::app
