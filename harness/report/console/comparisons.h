#pragma once

#include "harness/report/record/run_report.h"

#include <string>

namespace assay {

/// A line for each row that was compared with another: which is faster and by how much, with the ratio's
/// interval and both times; or that there is no difference to be seen, or why there is no ratio. Empty when
/// the run compared nothing. Rows that have nothing to be compared with are counted, by why they have not.
std::string comparison_lines(const RunReport& report, bool color);

}  // namespace assay
