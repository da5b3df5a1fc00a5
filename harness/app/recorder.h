#pragma once

#include "harness/app/rewrite_schedule.h"
#include "harness/report/console/console.h"
#include "harness/report/record/journal.h"
#include "harness/report/record/report_builder.h"

#include <filesystem>
#include <string>

namespace assay::app {

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
