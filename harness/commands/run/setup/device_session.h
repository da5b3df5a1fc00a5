#pragma once

#include "harness/base/clock.h"
#include "harness/cases/conv2d_alias.h"
#include "harness/cases/expectations/expectations.h"
#include "harness/commands/context.h"
#include "harness/commands/run/setup/run_devices.h"
#include "harness/commands/run_options.h"
#include "harness/engine/accuracy/answer_cache.h"
#include "harness/engine/ceilings/ceiling_store.h"
#include "harness/engine/run/planned_rows.h"
#include "harness/engine/run/run_options.h"
#include "harness/gpu/gpu.h"
#include "harness/report/record/events.h"
#include "harness/report/record/rows_left.h"

#include <functional>
#include <iosfwd>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace assay::app {

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
  void keep_pipelines();
  void save_pipelines_now_and_then();

  SessionParts parts_;
  RunDevices::Opened& device_;
  gpu::ShaderLibrary shaders_;
  gpu::ShaderLibrary versus_;
  AnswerCache answers_;
  CeilingStore store_;
  DeviceCases cases_;
  std::vector<PlannedGroup> groups_;
  DeviceRunOptions engine_;
  RunInfo info_;
  Stopwatch since_saved_;
  KnownTiming known_;
  RunListener* listener_ = nullptr;
};

}  // namespace assay::app
