#pragma once

#include "harness/report/console/console.h"
#include "harness/report/journal/journal.h"
#include "harness/report/journal/report_builder.h"

#include <filesystem>
#include <string>

namespace assay::app {

/// Decides when the reports of a run are rewritten during the run. The time of a rewrite is proportional to
/// the number of planned rows, so the next one is due after twenty times the last one's time: all rewrites
/// together take a twentieth of the run's time, whatever its number of rows, and reports are at most that
/// old. Times are in seconds of any clock.
class RewriteSchedule {
 public:
  /// Whether a rewrite is due; the first one is due immediately.
  bool is_due(double now_s) const { return now_s >= next_s_; }
  void rewrote(double began_s, double ended_s);

 private:
  double next_s_ = 0;
};

/// Passes a run's events to the journal first, then to the report and the console. The reports are rewritten
/// during the run, so that an interrupted run has readable ones.
class Recorder final : public RunListener {
 public:
  /// `directory` is the device's folder. Throws Error(Infrastructure) if it cannot be written.
  Recorder(std::filesystem::path directory, Console& console);

  /// Continues the existing journal, cut to its complete lines: the run's circumstances and plan are written
  /// only if they are missing. Throws Error as Journal and read_journal() do: another process writes it, or a
  /// line is damaged.
  struct GoOn {};
  Recorder(std::filesystem::path directory, Console& console, GoOn);

  /// The content of the journal so far.
  const ReportBuilder& so_far() const { return builder_; }

  void run(const RunInfo& info) override;
  void plan(std::span<const RowInfo> cases) override;
  void begin(RowIndex row) override;
  void judged(RowIndex row, const AccuracyResult& accuracy) override;
  void block(RowIndex row, const Block& block) override;
  void end(RowIndex row, const RowEnd& end) override;
  void done() override;

  /// Called instead of done() if the run was stopped before all rows had ended: the journal has no `done`, so
  /// that its report is not complete.
  void interrupted();

  RunReport report() const { return builder_.report(); }

  /// The error of the newest rewrite of the reports; empty: they are up to date. The run continues without
  /// them, as they can be made from the journal.
  const std::string& reports_failure() const { return reports_failure_; }

 private:
  void rewrite_reports();

  std::filesystem::path directory_;
  Journal journal_;
  ReportBuilder builder_;
  bool has_run_ = false;   ///< a continued journal has the run: it is not written again
  bool has_plan_ = false;  ///< a continued journal has the plan: it is not written again
  Console& console_;
  RewriteSchedule rewrites_;
  std::string reports_failure_;
};

}  // namespace assay::app
