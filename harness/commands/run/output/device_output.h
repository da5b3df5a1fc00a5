#pragma once

#include "harness/cases/expectations/expectations.h"
#include "harness/commands/context.h"
#include "harness/commands/run/output/run_folder.h"
#include "harness/commands/run_options.h"
#include "harness/engine/supervision/protocol.h"
#include "harness/report/console/console.h"
#include "harness/report/journal/journal.h"
#include "harness/report/journal/report_builder.h"
#include "harness/report/record/block.h"
#include "harness/report/record/record.h"
#include "harness/report/record/run_listener.h"

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

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

/// Passes every event on to another listener, after applying the expectations to each end: see as_expected().
/// This covers ends from the engine and ends of rows whose worker crashed.
class ExpectedRows final : public ForwardedEvents {
 public:
  /// `expectations` and `next` must outlive this.
  ExpectedRows(const Expectations& expectations, std::string device_name, RunListener& next);

  void plan(std::span<const RowInfo> rows) override;
  void judged(RowIndex row, const AccuracyResult& accuracy) override;
  void end(RowIndex row, const RowEnd& end) override;

 private:
  const Expectations& expectations_;
  std::string device_name_;
  std::vector<const Expectation*> rules_;  ///< one per planned row; null: no rule
  std::map<RowIndex, AccuracyResult>
      judged_;  ///< results of rows that a rule matches and that have not ended
};

/// Counts the failed rows of a run over all its devices, and says whether the limit of --max-failures is
/// reached. Thread-safe.
class FailureLimit {
 public:
  /// `most` 0: no limit.
  explicit FailureLimit(std::size_t most) : most_(most) {}

  void count(Status status);
  bool is_reached() const { return most_ != 0 && failed_ >= most_; }
  std::size_t most() const { return most_; }

 private:
  std::size_t most_;
  std::atomic<std::size_t> failed_ = 0;
};

/// Passes every event on to another listener, and counts the rows that fail. Both must outlive this.
class CountedFailures final : public ForwardedEvents {
 public:
  CountedFailures(FailureLimit& limit, RunListener& next) : ForwardedEvents(next), limit_(limit) {}

  void end(RowIndex row, const RowEnd& end) override;

 private:
  FailureLimit& limit_;
};

/// The parts of the output that all devices of a run share. All must outlive the outputs.
struct OutputParts {
  const RunOptions& options;
  RunFolder& folder;
  const Expectations& expectations;
  const Terminal& terminal;
  FailureLimit& failures;
};

/// The output of the run on one device: its folder and the terminal. Devices that run in parallel are shown
/// one after the other: only one of them writes to the terminal during the run.
class DeviceOutput {
 public:
  /// Continues the journal in the folder if there is one and a run is resumed. `is_live`: the output is shown
  /// during the run, else by show(). Throws Error.
  DeviceOutput(const OutputParts& parts, const ChosenDevice& device, bool is_live);

  Recorder& recorder() { return recorder_; }
  /// The listener for the run's events: it applies the expectations to a row's end before the end is
  /// recorded.
  RunListener& listener() { return expected_; }
  const std::filesystem::path& folder() const { return folder_; }
  /// The stream for people during the run.
  std::ostream& log() { return terminal_.log; }
  /// The content of the journal so far.
  const ReportBuilder& so_far() const { return recorder_.so_far(); }
  /// Whether the journal already has the run's circumstances, and its plan.
  bool has_run() const { return recorder_.so_far().has_run(); }
  bool has_plan() const { return recorder_.so_far().has_plan(); }

  /// Ends the run on this device: writes reports and the summary. `is_interrupted`: rows were cut short by a
  /// stop.
  RunReport conclude(bool is_interrupted);
  /// Prints the output that was held back.
  void show();

 private:
  std::ostringstream held_back_;
  std::ostringstream held_back_log_;
  OutputParts parts_;
  Terminal terminal_;
  std::filesystem::path folder_;
  Console console_;
  Recorder recorder_;
  CountedFailures counted_;
  ExpectedRows expected_;
};

}  // namespace assay::app
