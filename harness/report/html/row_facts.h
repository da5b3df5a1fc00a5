#pragma once

#include "harness/report/html/row_figures.h"
#include "harness/report/record/record.h"

namespace assay {

/// Name, unit and meaning of the columns of accu.csv and perf.csv that a page shows for a row.
Json fact_columns();

/// All that is known about a row: the cells of those columns, the failure as `assay show` shows it, the map
/// of its errors, the plan of a chain with the time of each step, and how it got its verdict.
Json facts_of(const RunInfo& run, const PageRow& row);

/// The raw samples of a row in us, by block; null if it has none.
Json samples_of(const Record* record);

}  // namespace assay
