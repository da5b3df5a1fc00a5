#pragma once

#include "harness/report/record/record.h"

#include <cstddef>
#include <optional>
#include <span>

namespace assay {

/// How long a run will go on, by the time that its rows took so far. Rows of mode perf take a hundred times
/// as long as those of mode accu, and come in another proportion at the begin than at the end: each mode is
/// counted for itself.
class TimeLeft {
 public:
  void plan(std::span<const RowInfo> planned, double now);
  /// The time since a row last ended, or since the plan, was that row's. Timed rows end several at once: the
  /// first of them gets what all took, which leaves their mean right.
  void ended(const RowInfo& row, double now);
  /// Nothing while there are rows of a mode of which none has ended, and when none is left.
  std::optional<double> seconds() const;

 private:
  struct Kind {
    std::size_t left = 0;
    std::size_t ended = 0;
    double seconds = 0;
  };
  Kind& kind_of(const RowInfo& row) { return row.mode == "perf" ? perf_ : accu_; }

  Kind accu_, perf_;
  double since_ = 0;
};

}  // namespace assay
