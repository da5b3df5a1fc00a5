#pragma once

#include "harness/app/farm_tree.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace assay::app {

/// What a user allows to be removed.
struct PruneRules {
  std::optional<std::size_t> keep;  ///< not the newest reports of each device, so many
  std::string begun_before;         ///< only runs whose ids come before this text; empty: any
  bool shards = false;              ///< of nights that were merged
};

/// A folder, and what becomes of it.
struct PruneItem {
  std::filesystem::path path;  ///< from the scanned folder
  std::string device;          ///< its slug
  std::uintmax_t bytes = 0;
  bool is_removed = false;
  std::string why;
};

struct PrunePlan {
  std::vector<PruneItem> reports;  ///< by device, the newest first
  std::vector<PruneItem> shards;
  /// What is removed in one piece, in this order: whole nights, reports, shards.
  std::vector<std::filesystem::path> removals;
  std::uintmax_t removed_bytes = 0;  ///< of them
};

/// Decides. Kept is what any reason speaks for: the newest report of each device (of selections in scratch
/// apart), what a link leads to, what is being written, what is or holds something that is not ours, and
/// what the rules do not allow. A night is removed as a whole when all its reports are to be.
PrunePlan plan_prune(const FarmTree& tree, const PruneRules& rules);

}  // namespace assay::app
