#pragma once

#include "harness/report/record/run_report.h"

#include <string>

namespace assay {

/// What was timed, as a table: cases of one op, shape and parameters stand together, each with its median,
/// the half width of the median's interval, GB/s, GOP/s where the op has operations, and its time as a
/// multiple of the first timed row of the group. A '*' marks the fastest row where a group has several times.
/// Parameters that are the same in all of an op's rows stand above its first group ("all rows:"), not in
/// every heading. A case without a time shows its status instead. Empty when the report has no case of mode
/// perf.
std::string perf_table(const RunReport& report, bool color);

}  // namespace assay
