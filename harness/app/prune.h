#pragma once

#include "harness/app/context.h"
#include "harness/base/error.h"

#include <cstddef>
#include <filesystem>
#include <optional>

namespace assay::app {

struct PruneOptions {
  std::filesystem::path folder;           ///< an output folder, or that of a farm
  std::optional<std::size_t> keep;        ///< reports of each device, the newest
  std::optional<double> older_than_days;  ///< only what is older is removed
  bool shards = false;                    ///< remove those that were merged, but for the newest night's
  bool dry_run = false;                   ///< say it, and remove nothing
};

/// Removes old runs and nights, and says of each folder what becomes of it and why. What cannot be removed is
/// told, and hinders nothing else: Infrastructure then. Throws Error(Usage) where no rule is given, or the
/// folder is none of ours.
ExitCode prune(const PruneOptions& options, const Terminal& terminal);

}  // namespace assay::app
