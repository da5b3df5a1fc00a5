#pragma once

#include "harness/engine/run/planned_rows.h"
#include "harness/report/record/record.h"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

// A run's rows shared out among several runs. Groups stay whole: their rows share data and a reference, and
// are compared with each other.

namespace assay {

/// One of so many parts.
struct Shard {
  int index = 1;  ///< from 1 to count
  int count = 1;
};

/// What each group may cost where nothing was measured: its rows, timed ones several times over.
std::vector<double> guessed_costs(std::span<const PlannedGroup> groups);

/// Places of the shard's groups, ascending, when the group that costs most goes to the shard that has least
/// so far (longest processing time first: at most a third more than the best division), and so on; `costs`
/// are of all groups, in any unit. Groups that cost the same are dealt out one by one. Every shard that is
/// given the same costs finds the same division.
std::vector<std::size_t> balanced(std::span<const double> costs, const Shard& shard);

/// What a run that has the `taken` ones of all groups tells of that.
ShardInfo shard_info(std::span<const PlannedGroup> groups, const Shard& shard,
                     std::span<const std::size_t> taken);

/// Hash of the ids and modes of all rows.
std::string plan_hash(std::span<const PlannedGroup> groups);

/// Of `cases`, of which the plan `groups` was made, those that have rows in the shard; in the same order.
/// Throws Error where the plan is not the one that was shared out.
std::vector<const Case*> cases_of_shard(std::span<const Case* const> cases,
                                        std::span<const PlannedGroup> groups, const ShardInfo& shard);

}  // namespace assay
