#pragma once

#include "harness/base/clock.h"
#include "harness/cases/conv2d_alias.h"
#include "harness/cases/expectations/expectations.h"
#include "harness/commands/context.h"
#include "harness/commands/run_options.h"
#include "harness/commands/tuning_files.h"
#include "harness/engine/accuracy/answer_cache.h"
#include "harness/engine/ceilings/ceilings.h"
#include "harness/engine/energy/energy_sources.h"
#include "harness/engine/run/device_context.h"
#include "harness/engine/run/planned_rows.h"
#include "harness/engine/run/tuned_rows.h"
#include "harness/engine/timing/timing_tools.h"
#include "harness/gpu/gpu.h"
#include "harness/report/record/rows_to_run.h"
#include "harness/report/record/run_info.h"
#include "harness/report/record/run_listener.h"

#include <cstddef>
#include <functional>
#include <iosfwd>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
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
    bool is_ready = false;                ///< make_ready() has ended
    std::unique_ptr<TimingTools> tools;   ///< created when the first row is timed
  };

  /// Throws Error(NoDevice) if there is no device, Error(Usage) or Error(Infrastructure) for a wrong one.
  explicit RunDevices(const RunOptions& options);

  /// Opens one of opened() unless it is already open. Throws Error.
  void open(Opened& device);
  /// Opens it and, once, prepares it for kernels: reads the pipelines of earlier runs and looks at its
  /// matrices (check_matrices()), whose results are in what it returns. `log` names those that are wrong. The
  /// kernel that finds them is assay's own, whatever the folders of the run hold. Throws Error.
  const DeviceInfo& make_ready(Opened& device, std::ostream& log);
  /// Replaces check_matrices(), for tests.
  void check_matrices_by(std::function<void(gpu::Device&)> check) { check_ = std::move(check); }

  gpu::Instance& instance() { return instance_; }
  std::span<Opened> opened() { return opened_; }
  std::vector<std::string> slugs() const;

 private:
  gpu::Instance instance_;
  std::vector<Opened> opened_;
  bool keeps_pipelines_ = true;
  std::function<void(gpu::Device&)> check_;
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

/// The parts that all devices of a run share in one process. All must outlive the sessions.
struct SessionParts {
  const RunOptions& options;
  const Context& context;
  RunDevices& devices;
  std::span<const Case* const> selected;
  const Expectations& expectations;
  std::string run_id;
  ShardInfo shard;                            ///< see RunInfo
  std::uint64_t secret_seed = 0;              ///< see RunInfo
  std::map<std::string, std::string> inputs;  ///< see RunInfo
  std::ostream& log;
  std::function<bool()> stop_requested;  ///< see DeviceRunOptions
};

/// The rows of a selection on one device of this process.
class DeviceSession {
 public:
  /// Opens the device if it is not open yet. Throws Error.
  DeviceSession(const SessionParts& parts, RunDevices::Opened& device);
  ~DeviceSession();
  DeviceSession(const DeviceSession&) = delete;
  DeviceSession& operator=(const DeviceSession&) = delete;

  /// Whether any row is timed.
  bool is_timed() const;
  /// Sends the run's circumstances and the plan to `listener`, which must outlive this. If rows are timed,
  /// they include the device's timer and ceilings; those that are `known` are not measured again.
  void tell(RunListener& listener, const KnownTiming& known = {});
  /// Runs the rows that are left. Returns what run_on_device() does.
  [[nodiscard]] std::string run(const RowsLeft& left);

  /// The run info that tell() sends, without the parts that it measures.
  const RunInfo& info() const { return info_; }
  std::vector<RowInfo> plan() const;

  DeviceRunOptions& engine() { return engine_; }
  gpu::Device& device() { return *device_.device; }

 private:
  void add_timing(const KnownTiming& known);
  bool times_one_of(const RowsLeft& left) const;
  void save_pipelines_now_and_then();

  SessionParts parts_;
  RunDevices::Opened& device_;
  gpu::ShaderLibrary shaders_;
  gpu::ShaderLibrary versus_;
  AnswerCache answers_;
  CeilingStore store_;
  DeviceCases cases_;
  std::optional<DeviceTuning> tuning_;
  TunedRows rows_;
  DeviceRunOptions engine_;
  RunInfo info_;
  Stopwatch since_saved_;
  KnownTiming known_;
  std::shared_ptr<EnergyMeter> energy_meter_;  ///< null: energy is not measured
  RunListener* listener_ = nullptr;
};

}  // namespace assay::app
