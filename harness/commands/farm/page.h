#pragma once

#include "harness/base/error.h"
#include "harness/commands/context.h"

#include <filesystem>
#include <vector>

namespace assay::app {

struct PageOptions {
  std::filesystem::path out;  ///< file to write; "-": stdout
  /// Paths as for journals_of(), but an output folder stands for all runs in it. Empty: a page of `faults`
  /// alone.
  std::vector<std::filesystem::path> reports;
  /// Reports with which the newest runs are compared; empty: each is compared with the run before it.
  std::vector<std::filesystem::path> base;
  /// A night's folder with its verdict: the page opens with that, and compares its reports as the verdict did
  /// (`base` does not count for them). Empty: none.
  std::filesystem::path night;
  std::filesystem::path run_noise;  ///< file with the noise between runs; empty: unknown
  std::filesystem::path faults;     ///< folder of `assay mutate` whose kill matrix is a section; empty: none
};

/// Writes the HTML page of these reports. Each device's newest run and its base are read from their journals,
/// other runs from their history.csv if there is one. Unreadable reports are left out with a warning: the run
/// before is then the newest, or the base. Throws Error(Usage) if none is left, for a base that has no row in
/// common with any newest run, for a night without a verdict, for a folder without a kill matrix, and where
/// neither reports nor faults are given.
ExitCode page(const PageOptions& options, const Terminal& terminal);

}  // namespace assay::app
