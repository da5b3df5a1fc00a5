#pragma once

#include "harness/commands/mutate/fault_result.h"

#include <string_view>
#include <vector>

namespace assay::app {

/// The faults of a kill_matrix.csv (kill_matrix_csv() writes it). Throws Error that names the line and the
/// cause: a missing column, a word that is no status, a cell that is not a number.
std::vector<FaultRecord> read_kill_matrix(std::string_view csv);

}  // namespace assay::app
