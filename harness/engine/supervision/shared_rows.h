#pragma once

#include "harness/report/record/rows_left.h"

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

namespace assay {

/// The rows of one device that several workers share: a worker without rows takes some, in the order of the
/// plan. Rows of a group stay together, because they share data.
class SharedRows {
 public:
  explicit SharedRows(std::size_t workers) : workers_(workers) {}

  /// Adds the wanted rows of mode accu. The `suspected` rows come first and go to one worker, which runs them
  /// one after the other.
  void add(std::span<const RowInfo> plan, const RowsLeft& left, const std::set<RowIndex>& suspected);
  /// The next rows for a worker: many at first, so that workers seldom ask, and single groups at the end, so
  /// that all workers end at about the same time. Empty: all rows are taken.
  std::vector<RowIndex> take();
  /// Returns a row that a worker could not run, with the end it would get; another worker may take it.
  void give_back(RowIndex row, const RowEnd& end);

  bool has_rows() const { return !suspected_.empty() || !groups_.empty(); }
  /// Takes all remaining rows, each with the end last passed to give_back(), if any.
  std::map<RowIndex, std::optional<RowEnd>> take_rest();

 private:
  std::size_t workers_;
  std::vector<RowIndex> suspected_;
  std::deque<std::vector<RowIndex>> groups_;
  std::map<RowIndex, RowEnd> given_back_;
};

}  // namespace assay
