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

/// Rows of one device that several workers share: whoever has none left takes some, in the order of the plan.
/// Rows of a group stay together, as they share data.
class SharedRows {
 public:
  explicit SharedRows(std::size_t workers) : workers_(workers) {}

  /// Adds the rows of mode accu that are wanted. The `suspected` ones come first and go to one worker, which
  /// runs one after the other.
  void add(std::span<const RowInfo> plan, const RowsLeft& left, const std::set<RowIndex>& suspected);
  /// The next ones for a worker: many at first, so that it is seldom asked for more, and at the end one
  /// group, so that all workers end together. None: all are taken.
  std::vector<RowIndex> take();
  /// A worker has not run this row, and would have it end so: another one may take it.
  void give_back(RowIndex row, const RowEnd& end);

  bool has_rows() const { return !suspected_.empty() || !groups_.empty(); }
  /// Takes all that nobody has taken, each with the end that give_back() told last, if it did.
  std::map<RowIndex, std::optional<RowEnd>> take_rest();

 private:
  std::size_t workers_;
  std::vector<RowIndex> suspected_;
  std::deque<std::vector<RowIndex>> groups_;
  std::map<RowIndex, RowEnd> given_back_;
};

}  // namespace assay
