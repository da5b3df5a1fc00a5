#pragma once

#include "harness/commands/mutate/fault_reports.h"

#include <filesystem>
#include <iosfwd>
#include <span>

namespace assay::app {

/// The journal of a whole run, from the folders of its shards (`--shard I/N`). A shard that is not among them
/// is noted on the log: its faults have no result. Throws Error if a folder has no journal or one of no
/// shard, if two hold the same shard, or if they are not of one run: other faults, shaders, rows, device or
/// binary.
FaultJournalContent merged_faults(std::span<const std::filesystem::path> folders, std::ostream& log);

}  // namespace assay::app
