#pragma once

#include "harness/app/run_options.h"
#include "harness/engine/run/planned_rows.h"

#include <cstddef>
#include <iosfwd>
#include <span>
#include <vector>

namespace assay::app {

/// Places of the groups that the shard has of all: by number of rows, or as `options.balance` says. Throws
/// Error.
std::vector<std::size_t> taken_groups(const CaseOptions& options, const Shard& shard,
                                      std::span<const PlannedGroup> groups);

/// The cases of `selected` that `assay list` shows: all, or those of options.shard. Throws Error.
std::vector<const Case*> listed_cases(const CaseOptions& options, std::vector<const Case*> selected);

/// Which of all `groups` a run has: with --resume those that it had, else those of the shard that is asked
/// for, of which `log` is told. Throws Error.
ShardInfo shard_of_run(const RunOptions& options, std::span<const PlannedGroup> groups, std::ostream& log);

}  // namespace assay::app
