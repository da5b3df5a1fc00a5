#pragma once

#include "harness/report/record/run_report.h"

#include <string>

namespace assay {

/// What became of each row between two runs of one selection, a line each: its status before and after, why
/// where it is not fine, its time with the interval before and after and by how much they differ ("same"
/// where the intervals meet). Rows in which nothing changed are counted in the last line.
std::string change_lines(const RunReport& before, const RunReport& after, bool color);

}  // namespace assay
