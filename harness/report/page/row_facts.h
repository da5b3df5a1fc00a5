#pragma once

#include "harness/report/page/row_figures.h"
#include "harness/report/record/record.h"

namespace assay {

/// Name, unit and meaning of the columns of accu.csv and perf.csv that a row's own part of a page shows.
Json fact_columns();

/// All that is known of a row: the cells of those columns, the failure as `assay show` tells it, the map of
/// its errors, and how its verdict came about.
Json facts_of(const RunInfo& run, const PageRow& row);

/// The raw samples of a row in us, by block; null where it has none.
Json samples_of(const Record* record);

}  // namespace assay
