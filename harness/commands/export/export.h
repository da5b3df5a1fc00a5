#pragma once

#include "harness/base/error.h"
#include "harness/commands/context.h"

#include <filesystem>
#include <vector>

namespace assay::app {

struct ExportOptions {
  std::vector<std::filesystem::path> reports;  ///< paths as for all_journals() (runs_over_time.h)
  std::filesystem::path sqlite;                ///< database to write; empty: none
  bool overwrite = false;                      ///< the database may replace an older file
  std::filesystem::path openmetrics;           ///< text to write; "-": stdout; empty: none
  bool newest = false;  ///< of the text: only the newest run of each device, without times
};

/// Writes all runs into an SQLite database, as OpenMetrics text, or both. A run that cannot be read is left
/// out with a warning, as is one that was given twice. Throws Error(Usage) if no file is asked for, or no
/// report can be read; then the files stay as they were, as does each that cannot be written.
ExitCode export_reports(const ExportOptions& options, const Terminal& terminal);

}  // namespace assay::app
