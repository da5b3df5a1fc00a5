#pragma once

#include "harness/app/context.h"
#include "harness/base/error.h"

#include <filesystem>
#include <vector>

namespace assay::app {

struct PageOptions {
  std::filesystem::path out;  ///< file to write; "-": stdout
  /// As journals_of() takes them; an output folder stands for all runs in it.
  std::vector<std::filesystem::path> reports;
  /// What the newest runs are compared with; empty: the run before each of them.
  std::vector<std::filesystem::path> base;
};

/// Writes the page that shows these reports. Of each device the newest run and its base are read from their
/// journals, other runs from their history.csv where there is one. What cannot be read is left out with a
/// warning. Throws Error(Usage) where nothing is left, and for a base that has no row in common with any
/// newest run.
ExitCode page(const PageOptions& options, const Terminal& terminal);

}  // namespace assay::app
