#pragma once

#include "harness/report/console/time_left.h"
#include "harness/report/record/events.h"
#include "harness/report/record/record.h"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <map>
#include <span>
#include <string>

namespace assay {

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
