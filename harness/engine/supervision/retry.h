#pragma once

#include "harness/report/record/row_end.h"
#include "harness/report/record/run_listener.h"

#include <string>
#include <vector>

namespace assay {

/// The second try of a row that cost a worker: it runs once more, alone in a new process. If it is lost
/// again, it is REPRODUCED; so is a row that fails in another way. If it ends well and no row had run before
/// it the first time, it is FLAKY. Otherwise it is tried a last time after the rows that had run before it:
/// if it is lost again, it is ORDER_DEPENDENT, else FLAKY.
class Retry {
 public:
  /// `before`: the rows that its process had run before it, the most recent last.
  Retry(RowIndex row, RowEnd first, std::vector<RowIndex> before);

  RowIndex row() const { return row_; }
  const RowEnd& first() const { return first_; }
  /// Whether rows had run before it in the process that it cost.
  bool had_rows_before() const { return !before_.empty(); }
  /// The rows to run now, `row` last.
  const std::vector<RowIndex>& rows() const { return rows_; }
  /// Whether events of the current rows are dropped, because those rows have ended before.
  bool is_silent() const { return is_behind_others_; }

  /// How the row ends after it was lost again for this reason.
  RowEnd lost_again(const std::string& reason) const;
  /// How the row ends after its try ended with `end`; nothing when it has to be tried once more after other
  /// rows, in a new process.
  std::optional<RowEnd> ended(const RowEnd& end);
  /// How the row ends if it did not end in its try: another row of rows() was lost, or it was never reached.
  RowEnd not_reached() const;

 private:
  RowEnd flaky(const RowEnd& end) const;
  RowEnd failed_otherwise(const RowEnd& end) const;

  RowIndex row_;
  RowEnd first_;
  std::vector<RowIndex> before_;
  std::vector<RowIndex> rows_;
  RowEnd alone_;  ///< how the row ended alone
  bool is_behind_others_ = false;
};

}  // namespace assay
