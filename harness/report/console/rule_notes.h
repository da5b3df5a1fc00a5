#pragma once

#include "harness/report/record/record.h"

#include <string>

namespace assay {

/// Two lines for each rule of the expectations that is expired or stale: the rule, and what to do. Empty if
/// there is none.
std::string rule_note_lines(const RunInfo& run, bool color);

}  // namespace assay
