#pragma once

#include "harness/engine/run/planned_rows.h"
#include "harness/report/record/record.h"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

// Divides a run's rows among several runs. Groups stay whole: their rows share data and a reference, and are
// compared with each other.

namespace assay {

/// One of `count` parts of a run.
struct Shard {
  int index = 1;  ///< from 1 to count
  int count = 1;
};

/// Estimated cost of each group when none was measured: its number of rows, with timed rows counting several
/// times.
std::vector<double> guessed_costs(std::span<const PlannedGroup> groups);

/// Indices of the shard's groups, ascending. The most expensive group goes to the shard with the lowest cost
/// so far, and so on (longest processing time first: at most a third above the optimum). `costs` has one
/// entry per group, in any unit. Groups of equal cost are dealt out in turn. All shards that are given the
/// same costs compute the same division.
std::vector<std::size_t> balanced(std::span<const double> costs, const Shard& shard);

/// The description of a shard that has the groups `taken`, as its run records it.
ShardInfo shard_info(std::span<const PlannedGroup> groups, const Shard& shard,
                     std::span<const std::size_t> taken);

/// Hash of the ids and modes of all rows.
std::string plan_hash(std::span<const PlannedGroup> groups);

/// The cases that have rows in the shard, in the order of `cases`; `groups` is the plan made from `cases`.
/// Throws Error when it is not the plan that was divided.
std::vector<const Case*> cases_of_shard(std::span<const Case* const> cases,
                                        std::span<const PlannedGroup> groups, const ShardInfo& shard);

}  // namespace assay
