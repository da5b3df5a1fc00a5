#pragma once

#include "harness/report/record/block.h"
#include "harness/report/record/record.h"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <iosfwd>
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

  /// The estimate. It may fall at any time, but rises only once it has not fallen for 30 s.
  /// nullopt while no row of a mode that has rows left has ended, and when no row is left.
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
  std::optional<double> shown_;
  double shown_at_ = 0;
};

/// Two lines for each rule of the expectations that is expired or stale: the rule, and what to do. Empty if
/// there is none.
std::string rule_note_lines(const RunInfo& run, bool color);

struct ConsoleOptions {
  bool color = false;                   ///< ANSI colours; the caller considers NO_COLOR and the terminal
  bool is_terminal = false;             ///< the log is a terminal: progress is one rewritten line
  std::size_t width = 100;              ///< columns of the terminal
  bool verbose = false;                 ///< one line per case, and every failure in full
  std::size_t full_failures = 20;       ///< kinds of failures whose first one is shown in full
  std::function<double()> now_seconds;  ///< a monotonic clock; empty: std::chrono::steady_clock
};

/// The output for people during a run and at its end. Data (header, failures, tables, summary) goes to `out`,
/// progress goes to `log`.
class Console {
 public:
  Console(std::ostream& out, std::ostream& log, ConsoleOptions options = {});

  void run(const RunInfo& info);
  void plan(std::span<const RowInfo> planned);
  /// The row is running now.
  void begin(const RowInfo& info);
  /// A timed row has one more block of samples: rows alternate in rounds of one block each.
  void block(const RowInfo& info, const Block& block);
  /// The row has ended with this record.
  void record(const Record& record);
  /// Removes the progress line.
  void end();

  /// Shows the header unless run() did, the PERF table, the failures by kind, rules of the expectations that
  /// need another look, the totals by status with their reasons, and where the reports are (`directory` may
  /// be empty).
  void summary(const RunReport& report, const std::filesystem::path& directory);

 private:
  void progress(bool now);
  void clear_progress();
  void show_failure(const Record& record);

  std::ostream& out_;
  std::ostream& log_;
  ConsoleOptions options_;
  std::size_t planned_ = 0;
  std::size_t done_ = 0;
  std::size_t failed_ = 0;
  std::map<std::string, std::size_t> failed_of_kind_;  ///< by op and failure_key
  std::string current_;
  int round_ = 0;  ///< the latest round of alternating rows, from 1 on; 0: there is none
  TimeLeft time_left_;
  double started_ = 0;
  double last_progress_ = 0;
  bool progress_shown_ = false;
  bool header_shown_ = false;
};

}  // namespace assay
