#pragma once

#include "harness/report/record/record.h"

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>

namespace assay {

/// How long a run will go on, by the time that its rows took so far. Rows of mode perf take a hundred times
/// as long as those of mode accu, and come in another proportion at the begin than at the end: each mode is
/// counted for itself. Timed rows take turns for as long as a minute before one of them ends: they are
/// counted by the blocks of samples that they have.
class TimeLeft {
 public:
  void plan(std::span<const RowInfo> planned, double now);
  /// The time since a row last ended or had a block, or since the plan, was that row's. Timed rows end
  /// several at once: the first of them gets what all took, which leaves their mean right.
  void ended(const RowInfo& row, double now);
  /// A timed row has one more block of samples.
  void block(const RowInfo& row, double now);
  /// How many timed rows have blocks and have not ended: they take turns.
  std::size_t taking_turns() const { return blocks_of_.size(); }

  /// Never more than was told before. Nothing while there are rows of a mode of which nothing has ended, and
  /// when none is left.
  std::optional<double> seconds();

 private:
  struct Kind {
    std::size_t left = 0;
    std::size_t ended = 0;
    double seconds = 0;
  };
  Kind& kind_of(const RowInfo& row) { return row.mode == "perf" ? perf_ : accu_; }
  double blocks_of_a_row() const;
  double blocks_left() const;
  std::optional<double> accu_seconds() const;
  std::optional<double> perf_seconds() const;

  Kind accu_, perf_;
  std::map<std::string, std::size_t> blocks_of_;  ///< by id, of timed rows that have not ended
  std::size_t blocks_ = 0;                        ///< of all rows
  std::size_t ended_blocks_ = 0;                  ///< of those that have ended
  double since_ = 0;
  std::optional<double> told_;
};

}  // namespace assay
