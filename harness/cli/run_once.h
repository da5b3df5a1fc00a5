#pragma once

#include "harness/base/error.h"
#include "harness/cli/commands.h"
#include "harness/engine/timing/timing_tools.h"
#include "harness/gpu/gpu.h"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace assay::cli {

/// The devices that a command line chooses, opened once however often a selection is run on them.
class RunDevices {
 public:
  struct Opened {
    std::size_t index = 0;
    std::unique_ptr<gpu::Device> device;
    std::unique_ptr<TimingTools> tools;  ///< made when a row is first timed
  };

  /// Throws Error(NoDevice) without a device, Error(Usage) or Error(Infrastructure) for the wrong one.
  explicit RunDevices(const RunOptions& options);

  gpu::Instance& instance() { return instance_; }
  std::span<Opened> opened() { return opened_; }

 private:
  gpu::Instance instance_;
  std::vector<Opened> opened_;
};

/// What running a selection once gave.
struct RunOutcome {
  ExitCode code = ExitCode::Fine;
  std::vector<RunReport> reports;            ///< one a device
  std::vector<std::filesystem::path> files;  ///< case and expectation files that the selection depends on
};

/// Where a run goes, and what may end it.
struct RunDesk {
  std::ostream& out;                     ///< what people read
  std::ostream& log;                     ///< progress
  std::function<void()> before_a_row{};  ///< may throw anything but std::exception: the run ends there
};

/// Loads the cases, selects, runs on every device and writes the reports. `devices` is filled by the first
/// run that has something to run. What is wrong in files goes to stderr. Throws Error.
RunOutcome run_once(const RunOptions& options, const Context& context, std::unique_ptr<RunDevices>& devices,
                    const RunDesk& desk);

/// Runs, then watches the case files and the folders of shaders, runs again whenever one is saved, and prints
/// what changed. Ends with Ctrl-C, or when the device is lost; returns the exit code of the last run.
int watch(const RunOptions& options, const Context& context);

}  // namespace assay::cli
