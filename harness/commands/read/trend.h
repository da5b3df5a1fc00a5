#pragma once

#include "harness/base/error.h"
#include "harness/commands/context.h"
#include "harness/report/trend/trend_report.h"

#include <filesystem>
#include <vector>

namespace assay::app {

struct TrendOptions {
  std::vector<std::filesystem::path> reports;  ///< paths as for read_runs()
  TrendQuestion question;
  std::filesystem::path csv;  ///< file to write; "-": stdout; empty: none
  bool all = false;           ///< list every change
};

/// Prints what became slower or faster over the nights of each device, and since when. Unreadable reports are
/// left out with a warning. Throws Error(Usage) if none is left, or a date is none.
ExitCode trend(const TrendOptions& options, const Terminal& terminal);

}  // namespace assay::app
