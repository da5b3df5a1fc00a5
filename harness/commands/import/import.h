#pragma once

#include "harness/base/error.h"
#include "harness/commands/context.h"

#include <filesystem>
#include <string>

namespace assay::app {

struct ImportOptions {
  std::filesystem::path file;  ///< see read_times()
  std::string name;            ///< of what was measured: "PyTorch 2.11". Reports show it as a device
  std::filesystem::path rows;  ///< a report with the timed rows that the file's times are of
  std::filesystem::path out = "assay-out";
};

/// Writes a report of times that something else took, as of one more device, for pivot, compare, summary and
/// the page. A row of it has the time alone: it was not judged, and has no interval. Entries of the file
/// without a row are listed. Throws Error(Usage) if no entry has a row, or if two entries have the same one.
ExitCode import_times(const ImportOptions& options, const Context& context, const Terminal& terminal);

}  // namespace assay::app
