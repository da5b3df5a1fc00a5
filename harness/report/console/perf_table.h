#pragma once

#include "harness/report/record/record.h"

#include <string>

namespace assay {

/// The times as a table, grouped by op, shape and parameters. Each row has its median, the half width of the
/// median's interval, GB/s, GOP/s if the op has operations, and its time relative to the first timed row of
/// the group. A '*' marks the fastest row of a group with several times. Parameters that are the same in all
/// of an op's rows are shown above its first group ("all rows:"), not in every heading. A case without a time
/// shows its status instead. Empty if the report has no case of mode perf.
std::string perf_table(const RunReport& report, bool color);

}  // namespace assay
