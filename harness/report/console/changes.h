#pragma once

#include "harness/report/record/record.h"

#include <string>

namespace assay {

/// The changes of rows between two runs of one selection, one line each: the status before and after, the
/// reason if it is not fine, the time with its interval before and after, and the factor ("same" if the
/// intervals overlap). The last line counts the unchanged rows.
std::string change_lines(const RunReport& before, const RunReport& after, bool color);

}  // namespace assay
