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

/// A line for each row that was compared with another: which is faster and by how much, with the ratio's
/// interval and both times; or that no difference is visible, or why there is no ratio. Rows without a
/// baseline are counted by reason. Empty if the run compared nothing.
std::string comparison_lines(const RunReport& report, bool color);

/// The changes of rows between two runs of one selection, one line each: the status before and after, the
/// reason if it is not fine, the time with its interval before and after, and the factor ("same" if the
/// intervals overlap). The last line counts the unchanged rows.
std::string change_lines(const RunReport& before, const RunReport& after, bool color);

}  // namespace assay
