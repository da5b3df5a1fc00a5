#pragma once

#include "harness/report/record/report_builder.h"
#include "harness/report/record/rows_left.h"

#include <map>

namespace assay {

/// The rows that have no end, were cut short by a stop, or were not reached. `wanted` is never empty if the
/// journal has a plan.
RowsLeft rows_left(const ReportBuilder& journal);

/// Rows that ended with the loss of their worker, and whose second try the run did not reach, with their
/// ends: the resuming run tries them again.
std::map<RowIndex, RowEnd> untried_rows(const ReportBuilder& journal);

}  // namespace assay
