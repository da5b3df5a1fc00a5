#pragma once

#include "harness/report/record/report_builder.h"

#include <set>
#include <vector>

namespace assay {

/// So often a row is run again that the run was killed with, the first time counted.
inline constexpr int most_kills = 3;

struct KilledRow {
  RowIndex row = 0;
  RowEnd end;
};

/// How the rows end that ran when the run was killed, of which there are several where workers ran side by
/// side: INTERRUPTED, and they are run again; CRASH where two runs before were killed with the row as well,
/// as it may be what takes the machine down.
std::vector<KilledRow> killed_rows(const ReportBuilder& journal);

/// Rows that the run was killed with and that are run again. One of them may be what kills it: where they run
/// one after the other, it is the only one of them that runs then.
std::set<RowIndex> suspected_rows(const ReportBuilder& journal);

}  // namespace assay
