#pragma once

#include "harness/report/record/record.h"

#include <string>

namespace assay {

/// A line for each row that was compared with another: which is faster and by how much, with the ratio's
/// interval and both times; or that no difference is visible, or why there is no ratio. Rows without a
/// baseline are counted by reason. Empty if the run compared nothing.
std::string comparison_lines(const RunReport& report, bool color);

}  // namespace assay
