#pragma once

#include "harness/report/writers/column.h"

#include <string>
#include <vector>

// The parts of which columns.cpp makes the columns of each file, by what they are about.

namespace assay {

using Columns = std::vector<Column>;

inline std::string flag(bool value) {
  return value ? "true" : "false";
}

// Of rows of both modes.
Columns run_columns();
Columns case_columns();
Columns cache_columns();
Columns verdict_columns();
/// Empty for ops that are no chains.
Columns chain_columns();
/// Where a row's case is, and what the row cost.
Columns place_columns();

// Empty in rows without accuracy.
/// How the answer differs from what is expected.
Columns difference_columns();
/// What shows that the answer is the one that was judged.
Columns evidence_columns();

// Empty if there is no time, or it is withheld.
Columns time_columns();
Columns rate_columns();
Columns energy_columns();
Columns program_columns();
/// Empty in rows that are not compared with another.
Columns comparison_columns();

}  // namespace assay
