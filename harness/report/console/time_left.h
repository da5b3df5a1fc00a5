#pragma once

#include "harness/report/record/record.h"

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>

namespace assay {

/// Estimates the remaining time of a run from the time that its rows took so far. Rows of mode perf take a
/// hundred times as long as rows of mode accu, and their proportion changes during a run: each mode is
/// counted separately. Timed rows alternate for up to a minute before one of them ends: they are counted by
/// their blocks of samples.
class TimeLeft {
 public:
  void plan(std::span<const RowInfo> planned, double now);
  /// Attributes the time since the last end or block, or since the plan, to this row. Several timed rows may
  /// end together: the first gets the time of all, which leaves their mean right.
  void ended(const RowInfo& row, double now);
  /// A timed row has one more block of samples.
  void block(const RowInfo& row, double now);
  /// The number of timed rows that have blocks and have not ended: they alternate.
  std::size_t taking_turns() const { return blocks_of_.size(); }

  /// The estimate, never more than the one before. nullopt while no row of a mode that has rows left has
  /// ended, and when no row is left.
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
  std::map<std::string, std::size_t> blocks_of_;  ///< by id, for timed rows that have not ended
  std::size_t blocks_ = 0;                        ///< blocks of all rows
  std::size_t ended_blocks_ = 0;                  ///< blocks of the rows that have ended
  double since_ = 0;
  std::optional<double> told_;
};

}  // namespace assay
