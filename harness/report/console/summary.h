#pragma once

#include "harness/report/record/run_report.h"

#include <cstddef>
#include <string>

namespace assay {

/// A line for each case that failed or was lost, up to `limit`, then how many more there are. Empty when
/// there is none.
std::string failure_list(const RunReport& report, std::size_t limit, bool color);

/// How many cases ended in which status; for all but PASS each reason with its count. Nothing is left out.
std::string status_totals(const RunReport& report, bool color);

}  // namespace assay
