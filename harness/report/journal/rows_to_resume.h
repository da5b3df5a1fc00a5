#pragma once

#include "harness/report/journal/report_builder.h"
#include "harness/report/record/rows_left.h"

#include <map>
#include <set>
#include <vector>

namespace assay {

/// A row that was running at this many kills runs alone: before all others, which do not begin meanwhile.
/// Rows that alternate for long are running at many kills from outside that have nothing to do with them.
inline constexpr int kills_before_alone = 2;

struct KilledRow {
  RowIndex row = 0;
  RowEnd end;
};

/// The rows that were running when the run was killed (several with parallel workers), and their ends:
/// INTERRUPTED, and they are run again; or CRASH if the row ran alone (rows_to_run_alone), as it may be what
/// takes the machine down.
std::vector<KilledRow> killed_rows(const ReportBuilder& journal);

/// Unfinished rows that were running at kills_before_alone kills or more, in the order of the plan.
std::vector<RowIndex> rows_to_run_alone(const ReportBuilder& journal);

/// Rows, other than those that run alone, that were running when the run was killed and are run again. One of
/// them may be what kills it: they run one after the other, so that the next kill identifies it.
std::set<RowIndex> suspected_rows(const ReportBuilder& journal);

/// The rows that have no end, were cut short by a stop, or were not reached. `wanted` is never empty if the
/// journal has a plan.
RowsLeft rows_left(const ReportBuilder& journal);

/// Rows that ended with the loss of their worker, and whose second try the run did not reach, with their
/// ends: the resuming run tries them again.
std::map<RowIndex, RowEnd> untried_rows(const ReportBuilder& journal);

}  // namespace assay
