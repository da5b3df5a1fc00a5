#pragma once

#include "harness/report/record/run_report.h"

#include <cstddef>
#include <string>

namespace assay {

/// What failed or was lost, in groups of one kind: how many rows, what sets them apart from those that pass,
/// and one of them as an example. At most `limit` groups, then how many more there are. Empty when nothing
/// failed.
std::string failure_list(const RunReport& report, std::size_t limit, bool color);

/// How many cases ended in which status; for all but PASS each reason with its count. Nothing is left out.
std::string status_totals(const RunReport& report, bool color);

}  // namespace assay
