#pragma once

#include "harness/engine/supervision/device_supervisor.h"
#include "harness/engine/supervision/worker_process.h"
#include "harness/report/record/rows_to_run.h"

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace assay {

/// The rows of one device that several workers share: a worker without rows takes some, in the order of the
/// plan. Rows of a group stay together, because they share data.
class SharedRows {
 public:
  explicit SharedRows(std::size_t workers) : workers_(workers) {}

  /// Adds the wanted rows of mode accu. The rows that run `alone` come first and go to one worker; then the
  /// `suspected` rows, which one worker runs one after the other.
  void add(std::span<const RowInfo> plan, const RowsLeft& left, const std::set<RowIndex>& suspected,
           const std::set<RowIndex>& alone = {});
  /// The next rows for a worker: many at first, so that workers seldom ask, and single groups at the end, so
  /// that all workers end at about the same time. Empty: all rows are taken.
  std::vector<RowIndex> take();
  /// Returns a row that a worker did not run, with the end it would get; another worker may take it.
  void give_back(RowIndex row, const RowEnd& end);

  bool has_rows() const { return !alone_.empty() || !suspected_.empty() || !groups_.empty(); }
  /// Takes all remaining rows, each with the end last passed to give_back(), if any.
  std::map<RowIndex, std::optional<RowEnd>> take_rest();

 private:
  std::size_t workers_;
  std::vector<RowIndex> alone_;
  std::vector<RowIndex> suspected_;
  std::deque<std::vector<RowIndex>> groups_;
  std::map<RowIndex, RowEnd> given_back_;
};

/// The settings and the work of a device's workers.
struct DeviceWorkersStart {
  SupervisionStart supervision;  ///< as for a single worker that runs all rows
  int jobs_side_by_side = 0;     ///< OpenRequest::jobs of each worker while several run at the same time
  std::set<RowIndex> suspected;  ///< rows that a single worker is to run one after the other
};

/// The workers of one device. A single worker runs all rows. Several workers run rows of mode accu in
/// parallel, each with its own supervisor; when all of these rows have ended, one worker runs everything that
/// must run alone: the second tries that an earlier run left, and the timed rows. Rows of mode accu that must
/// run alone (SupervisionStart::alone) are run by the first worker before the others begin. The listener sees
/// one run with one plan; events of rows that run in parallel are interleaved.
///
/// The rows of a worker that is given up go to the others, which begin again if they had no rows left. When
/// all workers are given up, so is the device. A row that a worker left out because it lost its connection in
/// that row again and again is MISSING, and no other worker runs it.
class DeviceWorkers {
 public:
  /// All workers and `listener` must outlive this object. `workers` must not be empty.
  DeviceWorkers(std::vector<Worker*> workers, RunListener& listener, DeviceWorkersStart start);
  ~DeviceWorkers();
  DeviceWorkers(const DeviceWorkers&) = delete;
  DeviceWorkers& operator=(const DeviceWorkers&) = delete;

  /// Starts the first worker as DeviceSupervisor does. The others begin when it has sent the plan.
  void begin() { first().begin(); }
  void begin_with_running_worker() { first().begin_with_running_worker(); }
  /// Starts further supervisors whose turn has come; call it whenever all supervisors have received their
  /// news.
  void go_on();

  /// A supervisor and the index of its worker. Two supervisors may have the same worker, one after the other.
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
  void take_back(RowIndex row, const RowEnd& end);
  void begin_others();
  bool is_any_at_work() const;
  void begin_again();
  void end_what_nobody_ran();
  void begin_last();
  std::string why_not_run() const;

  std::vector<Worker*> workers_;
  RunListener& listener_;
  RowsLeft left_;
  std::set<RowIndex> alone_;  ///< rows that run alone and have not ended; at first also those that are timed
  std::set<RowIndex> suspected_;
  SharedRows shared_;
  std::vector<RowIndex> timed_;  ///< the timed rows that are wanted
  bool has_untried_ = false;
  std::unique_ptr<SideBySide> shared_listener_;
  std::vector<std::unique_ptr<DeviceSupervisor>> side_by_side_;  ///< one for each of workers_
  std::unique_ptr<DeviceSupervisor> last_;  ///< runs what must run alone; null if one worker runs everything
  std::size_t begun_ = 1;                   ///< how many of side_by_side_ have begun
  bool is_last_phase_ = false;
};

/// A device's supervisor and its worker process.
struct SupervisedDevice {
  WorkerProcess* process = nullptr;
  DeviceSupervisor* supervisor = nullptr;
};

/// Passes each worker's output to its supervisor until all are over. Only one worker times at any moment,
/// because they share this machine's CPU. When `stop_requested` (may be empty) becomes true, all supervisors
/// are stopped. `heard` (may be empty) is called whenever all pending output has been passed on, and may
/// start further supervisors.
void supervise(std::span<const SupervisedDevice> devices, const std::function<bool()>& stop_requested,
               const std::function<void()>& heard = {});

/// The first line that a worker wrote, or its end.
struct FirstLine {
  std::optional<std::string> line;
  std::optional<ChildEnd> end;  ///< it has ended, perhaps after that line; neither is set: the time is over
};
/// Waits until `process` has written a line or has ended, at most `seconds`. For the time before there is a
/// supervisor. Lines for people (LogEvent) do not count: `log` (may be empty) gets their text, and the time
/// begins again with each.
FirstLine first_line(WorkerProcess& process, double seconds, const std::function<bool()>& stop_requested,
                     const std::function<void(const std::string&)>& log = {});

}  // namespace assay
