#pragma once

#include "harness/report/console/console.h"

#include <filesystem>
#include <iosfwd>

namespace assay::app {

/// Prints the summary of a run, then, if asked, its times in Google Benchmark's console format.
void print_summary(std::ostream& out, Console& console, const RunReport& report,
                   const std::filesystem::path& folder, bool benchmark_console);

}  // namespace assay::app
