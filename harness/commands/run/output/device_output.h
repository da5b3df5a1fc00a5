#pragma once

#include "harness/cases/expectations/expectations.h"
#include "harness/commands/context.h"
#include "harness/commands/run/output/expected_rows.h"
#include "harness/commands/run/output/recorder.h"
#include "harness/commands/run/output/run_folder.h"
#include "harness/commands/run_options.h"
#include "harness/engine/supervision/protocol.h"

#include <filesystem>
#include <optional>
#include <sstream>
#include <string>

namespace assay::app {

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
