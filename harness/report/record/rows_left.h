#pragma once

#include "harness/report/record/events.h"
#include "harness/report/record/report_builder.h"

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace assay {

/// The results of an earlier try of a row of mode perf.
struct RowProgress {
  std::string output_hash;    ///< hash of the outputs that were judged
  std::vector<Block> blocks;  ///< the row's blocks with those outputs
};

/// The rows of a plan that are still to be run, and the progress of the timed ones.
struct RowsLeft {
  std::vector<bool> wanted;  ///< one per planned row, rows past the end are not wanted; empty: all rows are
  /// If a wanted row is judged with the same outputs as before, its sampling continues after these blocks; if
  /// not, they do not count. Rows that are compared with an unwanted row skip the rounds of its blocks, as
  /// they would not have been sampled together.
  std::map<RowIndex, RowProgress> progress;
  bool may_prepare = true;  ///< rows may be prepared ahead of their turn

  bool wants(RowIndex row) const { return wanted.empty() || (row < wanted.size() && wanted[row]); }
};

/// The rows of a plan that others are compared with: RowsLeft has their progress even if they have ended.
std::set<RowIndex> baselines_in(std::size_t rows, const std::function<const RowInfo&(RowIndex)>& info_of);

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
