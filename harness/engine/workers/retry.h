#pragma once

#include "harness/report/record/events.h"

#include <string>
#include <vector>

namespace assay {

/// Whether a row that ended so is the last thing that its process did: it exits then.
bool is_lost(Status status);

/// What is done about a row that a worker was lost with: it is tried once more, alone in a new process. Where
/// it is lost again it is REPRODUCED. Where it ends, and had been alone the first time too, it is FLAKY. Else
/// it is tried a last time behind the rows that had run before it: lost again, it is ORDER_DEPENDENT, else
/// FLAKY. A row that fails alone in another way is REPRODUCED too.
class Retry {
 public:
  /// `before`: the rows that its process had run before it, the newest last.
  Retry(RowIndex row, RowEnd first, std::vector<RowIndex> before);

  RowIndex row() const { return row_; }
  const RowEnd& first() const { return first_; }
  /// The rows to be run now, `row` last.
  const std::vector<RowIndex>& rows() const { return rows_; }
  /// Whether what is told of the rows now is for nobody: they have ended before.
  bool is_silent() const { return is_behind_others_; }

  /// The row was lost again, for this reason: how it ends.
  RowEnd lost_again(const std::string& reason) const;
  /// The row has ended so. How it ends then; nothing where it is to be tried behind others, in a new process.
  std::optional<RowEnd> ended(const RowEnd& end);
  /// Another row of rows() was lost, or the row never came.
  RowEnd not_reached() const;

 private:
  RowEnd flaky(const RowEnd& end) const;
  RowEnd failed_otherwise(const RowEnd& end) const;

  RowIndex row_;
  RowEnd first_;
  std::vector<RowIndex> before_;
  std::vector<RowIndex> rows_;
  RowEnd alone_;  ///< how it ended alone
  bool is_behind_others_ = false;
};

}  // namespace assay
