#pragma once

#include "harness/app/rewrite_schedule.h"
#include "harness/report/console/console.h"
#include "harness/report/record/journal.h"
#include "harness/report/record/report_builder.h"

#include <filesystem>
#include <string>

namespace assay::app {

/// Listens to a run for everybody: the journal first, then the report and the console. The reports are
/// rewritten as the run goes, so that an interrupted run has readable ones.
class Recorder final : public RunListener {
 public:
  /// `directory` is the device's folder. Throws Error(Infrastructure) when it cannot be written.
  Recorder(std::filesystem::path directory, Console& console);

  /// Goes on with the journal that is there, cut to its whole lines: of the run's circumstances and its plan
  /// it writes what it lacks. Throws Error as Journal and read_journal() do: another process writes it, or a
  /// line is damaged.
  struct GoOn {};
  Recorder(std::filesystem::path directory, Console& console, GoOn);

  /// What the journal has told so far.
  const ReportBuilder& so_far() const { return builder_; }

  void run(const RunInfo& info) override;
  void plan(std::span<const RowInfo> cases) override;
  void begin(RowIndex row) override;
  void judged(RowIndex row, const AccuracyResult& accuracy) override;
  void block(RowIndex row, const Block& block) override;
  void end(RowIndex row, const RowEnd& end) override;
  void done() override;

  /// Instead of end(), when the run was stopped before all rows had ended: the journal stays without an end,
  /// so that its report is not complete.
  void interrupted();

  RunReport report() const { return builder_.report(); }

  /// Why the reports are not what the journal says: their newest rewrite failed; empty: they are. The run
  /// goes on without them, as they can be made again from the journal.
  const std::string& reports_failure() const { return reports_failure_; }

 private:
  void rewrite_reports();

  std::filesystem::path directory_;
  Journal journal_;
  ReportBuilder builder_;
  bool has_run_ = false;   ///< in a journal that is gone on with: told once more, it is not written again
  bool has_plan_ = false;  ///< the same
  Console& console_;
  RewriteSchedule rewrites_;
  std::string reports_failure_;
};

}  // namespace assay::app
