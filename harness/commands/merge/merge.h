#pragma once

#include "harness/base/error.h"
#include "harness/commands/context.h"
#include "harness/commands/run_options.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace assay::app {

/// "their --budget is 1 and 0.02": the options that change rows or their results and differ between two
/// command lines, for a sentence; nullopt if these runs may be parts of one. Output folders, shards and
/// numbers of threads may differ; devices, files and seeds are compared elsewhere, by their actual values.
std::optional<std::string> mixed_options(const RunOptions& one, const RunOptions& other);

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
