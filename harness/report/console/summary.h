#pragma once

#include "harness/report/record/record.h"

#include <cstddef>
#include <string>

namespace assay {

/// Rows that failed or were lost, in groups of one kind: how many, what distinguishes them from rows that
/// pass, and one of them as an example. At most `limit` groups, then how many more there are. Empty if
/// nothing failed.
std::string failure_list(const RunReport& report, std::size_t limit, bool color);

/// The number of cases by status; for statuses of rows that did not run, each reason with its count.
std::string status_totals(const RunReport& report, bool color);

/// Of a run with --replay: "4 rows, 60 runs each: all right and equal; a row that is wrong in 4.9 % of its
/// runs would have shown it (95 %)". Empty if nothing was replayed.
std::string replay_line(const RunReport& report);

}  // namespace assay
