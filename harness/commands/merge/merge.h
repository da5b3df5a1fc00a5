#pragma once

#include "harness/base/error.h"
#include "harness/commands/context.h"

#include <filesystem>
#include <vector>

namespace assay::app {

struct MergeOptions {
  std::filesystem::path out;                  ///< output folder, like --out of a run
  std::vector<std::filesystem::path> shards;  ///< paths as for journals_of()
  bool overwrite = false;                     ///< `out` may already hold a report of the device
  bool strict = false;                        ///< see RunOptions
};

/// `assay merge`: merges the reports of a run's shards into one in `out`, as a run of all rows would have
/// written it, and prints its summary. A shard whose folder holds no report is noted on the log; its rows are
/// MISSING. They are named by planning the run again, for which its unchanged case files are needed. Returns
/// the exit code of such a run. Throws Error: Usage if the reports are not parts of one run on one device,
/// Infrastructure if there is none, or if missing rows cannot be named.
ExitCode merge(const MergeOptions& options, const Context& context, const Terminal& terminal);

}  // namespace assay::app
