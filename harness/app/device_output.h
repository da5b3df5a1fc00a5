#pragma once

#include "harness/app/context.h"
#include "harness/app/expected_rows.h"
#include "harness/app/failure_limit.h"
#include "harness/app/recorder.h"
#include "harness/app/run_folder.h"
#include "harness/app/run_options.h"
#include "harness/cases/expectations.h"
#include "harness/engine/workers/protocol.h"

#include <filesystem>
#include <optional>
#include <sstream>
#include <string>

namespace assay::app {

/// What all devices of a run share in what is written. All must outlive the outputs.
struct OutputParts {
  const RunOptions& options;
  RunFolder& folder;
  const Expectations& expectations;
  const Terminal& terminal;
  FailureLimit& failures;
};

/// Where the run on one device is written: its folder and the terminal. Several devices that run side by side
/// are shown one after the other: only one writes to the terminal as it goes.
class DeviceOutput {
 public:
  /// Goes on with the journal that the folder holds, if it does and a run is resumed. `is_live`: it is shown
  /// as it goes, else by show(). Throws Error.
  DeviceOutput(const OutputParts& parts, const ChosenDevice& device, bool is_live);

  Recorder& recorder() { return recorder_; }
  /// To be told what happens: what was expected of a row is put into its end before it is recorded.
  RunListener& listener() { return expected_; }
  const std::filesystem::path& folder() const { return folder_; }
  /// Lines for people, while the run goes.
  std::ostream& log() { return terminal_.log; }
  /// What the journal has told so far.
  const ReportBuilder& so_far() const { return recorder_.so_far(); }
  /// Whether the journal tells already which run it is of, and what its rows are.
  bool has_run() const { return recorder_.so_far().has_run(); }
  bool has_plan() const { return recorder_.so_far().has_plan(); }

  /// Ends the run on this device: reports, summary. `is_interrupted`: rows were cut short by a stop.
  RunReport conclude(bool is_interrupted);
  /// Prints what was held back.
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
