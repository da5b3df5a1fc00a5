#pragma once

#include "harness/app/run_options.h"
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

/// The devices that a command line chooses, each opened once however often a selection is run on it.
class RunDevices {
 public:
  struct Opened {
    std::string slug;  ///< its folder's name
    std::size_t index = 0;
    DeviceInfo info;
    std::unique_ptr<gpu::Device> device;  ///< null until open()
    std::unique_ptr<TimingTools> tools;   ///< made when a row is first timed
  };

  /// Throws Error(NoDevice) without a device, Error(Usage) or Error(Infrastructure) for the wrong one.
  explicit RunDevices(const RunOptions& options);

  /// Opens one of opened() unless it is. Throws Error.
  void open(Opened& device);

  gpu::Instance& instance() { return instance_; }
  std::span<Opened> opened() { return opened_; }
  std::vector<std::string> slugs() const;

 private:
  gpu::Instance instance_;
  std::vector<Opened> opened_;
};

/// What another process has measured on the device in the same run.
struct KnownTiming {
  std::optional<TimerCalibration> timer;
  std::optional<Ceilings> ceilings;
};
struct TimingSource {
  std::string ceilings;  ///< as RunOptions
  CeilingStore store;
  KnownTiming known;
};

/// The store in the folder that a command line names, which is that of one night; empty: that of all runs.
CeilingStore ceiling_store(const std::filesystem::path& named);

/// What timing on the device needs, made the first time: its timer is calibrated, its ceilings are taken from
/// disk or measured, but for what is known. Without memory to measure them the run goes on: its rows have no
/// percentages then, and `log` says so.
TimingTools& timing_tools_of(RunDevices::Opened& opened, gpu::ShaderLibrary& shaders,
                             const TimingSource& source, std::ostream& log);

/// What the store says of the device with this driver and these kernels; nothing where it has none.
Ceilings known_ceilings(const DeviceInfo& device, gpu::ShaderLibrary& shaders, const CeilingStore& store);

/// Measures the ceilings again and keeps the larger of both. `info` and `listener` (the journal) are told the
/// run's circumstances again: its rows are held against the new ceilings from then on.
void measure_ceilings_again(TimingTools& tools, gpu::ShaderLibrary& shaders, const CeilingStore& store,
                            RunInfo& info, RunListener& listener, std::ostream& log);

}  // namespace assay::app
