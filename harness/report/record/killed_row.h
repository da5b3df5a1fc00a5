#pragma once

#include "harness/report/record/report_builder.h"

#include <set>
#include <vector>

namespace assay {

/// How often a row may be running when the run is killed, before it is not run again.
inline constexpr int most_kills = 3;

struct KilledRow {
  RowIndex row = 0;
  RowEnd end;
};

/// The rows that were running when the run was killed (several with parallel workers), and their ends:
/// INTERRUPTED, and they are run again; or CRASH if the run was killed with this row twice before, as the row
/// may be what takes the machine down.
std::vector<KilledRow> killed_rows(const ReportBuilder& journal);

/// Rows that were running when the run was killed and are run again. One of them may be what kills it: they
/// run one after the other, so that the next kill identifies it.
std::set<RowIndex> suspected_rows(const ReportBuilder& journal);

}  // namespace assay
