#pragma once

#include "harness/app/context.h"
#include "harness/app/worker.h"
#include "harness/base/error.h"

#include <filesystem>
#include <vector>

namespace assay::app {

struct MergeOptions {
  std::filesystem::path out;                  ///< as --out of a run
  std::vector<std::filesystem::path> shards;  ///< as journals_of() takes them
  bool overwrite = false;                     ///< `out` may hold a report of the device already
  bool strict = false;                        ///< as RunOptions
};

/// `assay merge`: puts the reports of a run's shards together into one, as a run of all rows would have
/// written it to `out`, and prints its summary. A shard whose folder holds no report is told on the log; its
/// rows are MISSING, and are named by planning the run again, for which its case files are needed as they
/// were. Returns the exit code of such a run. Throws Error: Usage where the reports are no parts of one run
/// on one device, Infrastructure where there is none, or where rows that are missing cannot be named.
ExitCode merge(const MergeOptions& options, const Context& context, const ParseRun& parse,
               const Terminal& terminal);

}  // namespace assay::app
