#pragma once

#include "harness/base/error.h"
#include "harness/commands/context.h"

#include <cstddef>
#include <filesystem>
#include <optional>

namespace assay::app {

struct PruneOptions {
  std::filesystem::path folder;           ///< an output folder, or a farm's folder
  std::optional<std::size_t> keep;        ///< number of newest reports to keep per device
  std::optional<double> older_than_days;  ///< remove only older reports
  bool shards = false;                    ///< remove merged shards, except the newest night's
  bool dry_run = false;                   ///< only say what would be removed
};

/// Removes old runs and nights, and says for each folder whether it is removed or kept, and why. Folders that
/// cannot be removed are reported and the others are still removed; returns Infrastructure then. Throws
/// Error(Usage) if no rule is given, or the folder holds no runs.
ExitCode prune(const PruneOptions& options, const Terminal& terminal);

}  // namespace assay::app
