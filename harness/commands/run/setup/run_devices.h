#pragma once

#include "harness/commands/run_options.h"
#include "harness/engine/ceilings/ceiling_store.h"
#include "harness/engine/timing/timing_tools.h"
#include "harness/gpu/gpu.h"
#include "harness/report/record/events.h"

#include <cstddef>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay::app {

/// The devices that a command line chooses. Each is opened only once, even if a selection is run on it
/// several times.
class RunDevices {
 public:
  struct Opened {
    std::string slug;  ///< name of its folder
    std::size_t index = 0;
    DeviceInfo info;
    std::unique_ptr<gpu::Device> device;  ///< null until open()
    std::unique_ptr<TimingTools> tools;   ///< created when the first row is timed
  };

  /// Throws Error(NoDevice) if there is no device, Error(Usage) or Error(Infrastructure) for a wrong one.
  explicit RunDevices(const RunOptions& options);

  /// Opens one of opened() unless it is already open. Throws Error.
  void open(Opened& device);

  gpu::Instance& instance() { return instance_; }
  std::span<Opened> opened() { return opened_; }
  std::vector<std::string> slugs() const;

 private:
  gpu::Instance instance_;
  std::vector<Opened> opened_;
};

/// Measurements that another process made on the device in the same run.
struct KnownTiming {
  std::optional<TimerCalibration> timer;
  std::optional<Ceilings> ceilings;
};
struct TimingSource {
  std::string ceilings;  ///< see RunOptions
  CeilingStore store;
  KnownTiming known;
};

/// The store in the folder that a command line names, which belongs to one night; for an empty path, the
/// store of all runs.
CeilingStore ceiling_store(const std::filesystem::path& named);

/// The tools for timing on the device, created at the first call: the timer is calibrated, and the ceilings
/// are read from disk or measured, unless they are known. If memory does not suffice to measure them, the run
/// continues without percentages, and `log` says so.
TimingTools& timing_tools_of(RunDevices::Opened& opened, gpu::ShaderLibrary& shaders,
                             const TimingSource& source, std::ostream& log);

/// The store's ceilings for the device with this driver and these kernels; empty ones if it has none.
Ceilings known_ceilings(const DeviceInfo& device, gpu::ShaderLibrary& shaders, const CeilingStore& store);

/// Measures the ceilings again and keeps the larger of both. Updates `info` and sends it to `listener` (the
/// journal) again: later rows are compared with the new ceilings.
void measure_ceilings_again(TimingTools& tools, gpu::ShaderLibrary& shaders, const CeilingStore& store,
                            RunInfo& info, RunListener& listener, std::ostream& log);

}  // namespace assay::app
