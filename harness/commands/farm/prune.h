#pragma once

#include "harness/base/error.h"
#include "harness/commands/context.h"
#include "harness/commands/farm/farm_tree.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace assay::app {

/// The rules for removal that a user gives.
struct PruneRules {
  std::optional<std::size_t> keep;  ///< keep this many newest reports of each device
  std::string begun_before;         ///< remove only runs whose ids sort before this text; empty: any
  bool shards = false;              ///< remove shards that were merged
};

/// A folder, and whether and why it is kept or removed.
struct PruneItem {
  std::filesystem::path path;  ///< relative to the scanned folder
  std::string device;          ///< slug of its device
  std::uintmax_t bytes = 0;
  bool is_removed = false;
  std::string why;
};

struct PrunePlan {
  std::vector<PruneItem> reports;  ///< by device, the newest first
  std::vector<PruneItem> shards;
  /// Folders that are removed as a whole, in this order: nights, reports, shards.
  std::vector<std::filesystem::path> removals;
  std::uintmax_t removed_bytes = 0;  ///< total size of the removals
};

/// Decides what to remove. A folder is kept for any of these reasons: it is the newest report of its device
/// (runs of selections in scratch are counted separately), a link points to it, it is being written, it is or
/// holds something that assay did not write, it is in a folder in the place of a night that is none
/// (FarmNight), or the rules keep it. A night is removed as a whole if all its reports are.
PrunePlan plan_prune(const FarmTree& tree, const PruneRules& rules);

/// The plan as lines: each folder with its decision, size and reason; totals for each device; the overall
/// total. `will`: a dry run, nothing is removed now.
std::string prune_text(const PrunePlan& plan, bool will, std::optional<std::uintmax_t> free_bytes);

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
