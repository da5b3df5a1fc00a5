#pragma once

#include "harness/commands/run_options.h"
#include "harness/engine/run/planned_rows.h"
#include "harness/report/record/record.h"

#include <cstddef>
#include <iosfwd>
#include <optional>
#include <span>
#include <vector>

namespace assay::app {

/// Expected time of each group in milliseconds, from its rows' times in an earlier run, including its
/// reference. A row that the run did not have, or that was cut short there, counts with the average of its op
/// and mode; else of its mode; else 1 ms.
std::vector<double> measured_costs(std::span<const PlannedGroup> groups, const RunReport& earlier);

/// Places of the shard's groups among all: divided by number of rows, or by the times in `options.balance`.
/// Throws Error.
std::vector<std::size_t> taken_groups(const CaseOptions& options, const Shard& shard,
                                      std::span<const PlannedGroup> groups);

/// The cases of `selected` that `assay list` shows: all, or those in the shard that is asked for, as a run
/// takes them. Throws Error.
std::vector<const Case*> listed_cases(const CaseOptions& options, const std::optional<AskedShard>& asked,
                                      std::vector<const Case*> selected);

/// The part of `groups` that a run has: with --resume the same as before, else the shard that is asked for,
/// which is noted on `log`. Throws Error.
ShardInfo shard_of_run(const RunOptions& options, std::span<const PlannedGroup> groups, std::ostream& log);

}  // namespace assay::app
