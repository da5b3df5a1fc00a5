#pragma once

#include "harness/report/record/block.h"
#include "harness/report/record/run_info.h"
#include "harness/report/record/run_listener.h"

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace assay {

/// The largest number of shards of a run.
inline constexpr int most_shards = 1'000'000;

/// Groups ascending numbers into few ranges: each {first, last, step} stands for first, first + step, ...,
/// last.
std::vector<std::array<std::size_t, 3>> number_ranges(std::span<const std::size_t> ascending);

/// The places of the shard's groups in the whole plan, ascending. Throws Error if the shard or its ranges are
/// invalid, as in a journal that was edited by hand.
std::vector<std::size_t> groups_of(const ShardInfo& shard);

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

}  // namespace assay
