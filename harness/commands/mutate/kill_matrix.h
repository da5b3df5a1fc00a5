#pragma once

#include "harness/commands/mutate/fault_journal.h"
#include "harness/commands/mutate/fault_record.h"

#include <span>
#include <string>

namespace assay::app {

/// The matrix as RFC 4180: one row per fault (docs/faults.md has the columns).
std::string kill_matrix_csv(std::span<const FaultRecord> records);

/// The summary for people: the score, per file and per operator, and the faults that survived or are fragile.
std::string faults_markdown(const FaultRun& run, std::span<const FaultRecord> records);

/// "common/quads.glslh:12:5  bound_off_by_one  '<' -> '<='"
std::string fault_text(const mutation::Fault& fault);

}  // namespace assay::app
