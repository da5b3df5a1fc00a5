#pragma once

#include "harness/engine/workers/device_supervisor.h"
#include "harness/engine/workers/shared_rows.h"

#include <cstddef>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace assay {

/// What the workers of a device start with.
struct DeviceWorkersStart {
  SupervisionStart supervision;  ///< as for one worker that runs all rows
  int jobs_side_by_side = 0;     ///< OpenRequest::jobs of each worker while several run
  std::set<RowIndex> suspected;  ///< rows that one worker is to run one after the other
};

/// The workers of one device. One runs all rows. Several run rows of mode accu side by side, each with a
/// supervisor of its own; when all of these have ended, one worker runs what is to be alone: the second tries
/// that an earlier run left, and the timed rows. Whoever listens is told of one run with one plan; what is
/// told of rows that run side by side is mixed.
///
/// A worker that is given up leaves its rows to the others. When all are, the device is.
class DeviceWorkers {
 public:
  /// All must outlive this. `workers` is not empty.
  DeviceWorkers(std::vector<Worker*> workers, RunListener& listener, DeviceWorkersStart start);
  ~DeviceWorkers();
  DeviceWorkers(const DeviceWorkers&) = delete;
  DeviceWorkers& operator=(const DeviceWorkers&) = delete;

  /// As DeviceSupervisor, of the first worker. The others begin when it has told the plan.
  void begin() { first().begin(); }
  void begin_with_running_worker() { first().begin_with_running_worker(); }
  /// Supervisors have been told what there was: lets others begin whose time has come.
  void go_on();

  /// One supervisor and which of the workers it handles. Two may handle the same one, one after the other.
  struct Supervised {
    std::size_t worker = 0;
    DeviceSupervisor* supervisor = nullptr;
  };
  std::vector<Supervised> supervised() const;

  bool is_over() const;
  const std::optional<RefusedEvent>& refusal() const { return first().refusal(); }

 private:
  class SideBySide;

  DeviceSupervisor& first() const { return *side_by_side_.front(); }
  void take_plan(std::span<const RowInfo> plan);
  void begin_others();
  void end_what_nobody_ran();
  void begin_last();
  std::string why_not_run() const;

  std::vector<Worker*> workers_;
  RunListener& listener_;
  RowsLeft left_;
  std::set<RowIndex> suspected_;
  SharedRows shared_;
  std::vector<RowIndex> timed_;  ///< that are wanted
  bool has_untried_ = false;
  std::unique_ptr<SideBySide> shared_listener_;
  std::vector<std::unique_ptr<DeviceSupervisor>> side_by_side_;  ///< one for each of workers_
  std::unique_ptr<DeviceSupervisor> last_;  ///< of what is to be alone; null where one worker runs all
  std::size_t begun_ = 1;                   ///< of side_by_side_
  bool is_last_phase_ = false;
};

}  // namespace assay
