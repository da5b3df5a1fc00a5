#pragma once

#include "harness/report/record/events.h"

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace assay {

/// What an earlier try has told of a row of mode perf.
struct RowProgress {
  std::string output_hash;    ///< of the outputs that were judged
  std::vector<Block> blocks;  ///< of the row while it had those outputs
};

/// Which rows of a plan are to be run, and how far those have come that are timed.
struct RowsLeft {
  std::vector<bool> wanted;  ///< of each planned row, rows behind its end are not; empty: all
  /// Where a wanted row is judged with the same outputs as before, its sampling goes on behind these blocks;
  /// where not, they do not count. Of rows that are not wanted: rows that are compared with them take part in
  /// no round that these had, as they would not have been sampled together.
  std::map<RowIndex, RowProgress> progress;
  bool may_prepare = true;  ///< rows may be prepared before it is their turn

  bool wants(RowIndex row) const { return wanted.empty() || (row < wanted.size() && wanted[row]); }
};

/// The rows of a plan that others are compared with: their progress is told when they have ended, too.
std::set<RowIndex> baselines_in(std::size_t rows, const std::function<const RowInfo&(RowIndex)>& info_of);

}  // namespace assay
