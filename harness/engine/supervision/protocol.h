#pragma once

#include "harness/base/error.h"
#include "harness/base/status.h"
#include "harness/device/device_info.h"
#include "harness/report/record/rows_to_run.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

// The protocol between a supervisor and its worker: lines of JSON on the worker's stdin and stdout. The
// worker reports its rows as events of the journal; lines that are not for the journal begin with {"worker":
// ...}.
//
//   supervisor  {"request":"open", "only_devices":true, ...}
//   worker      {"worker":"devices", ...} those that the command line chooses
//   supervisor  {"request":"open", ...}   which rows, on which device; may be the first
//   worker      {"event":"run", ...}, {"event":"plan", ...}
//   supervisor  {"request":"rows", ...}   run these
//   worker      {"event":"begin" | "judged" | "block" | "end", ...}, between them {"worker":"phase", ...}
//               {"worker":"wants_to_time"}, and after {"request":"time"}: ..., {"worker":"timed"}
//               {"worker":"idle"}         all of them have ended; more may be asked for
//   supervisor  {"request":"stop"}        end where you are
// A worker whose stdin is closed has no supervisor any more and exits. A worker that lost its device, or on
// which a row hangs, exits after that row's end. One whose output cannot be written sends {"worker":
// "cannot_go_on", ...} and exits.

namespace assay {

/// Increased when an older side would misunderstand a message.
inline constexpr int worker_protocol = 1;

struct OpenRequest {
  int protocol = worker_protocol;
  std::vector<std::string> command;  ///< the run's command line: "assay", "run", ...
  std::string run_id;                ///< as RunInfo
  std::string directory;             ///< directory to run in; empty: the worker's current one
  bool only_devices = false;         ///< send the devices, then wait for a request that names one
  std::size_t device = 0;            ///< index among the devices that the command line chooses
  ShardInfo shard;                   ///< the run's part of the rows
  std::uint64_t secret_seed = 0;     ///< as RunInfo
  std::string uuid;                  ///< UUID that the device must have; empty: any
  int jobs = 0;                      ///< threads for references; 0: one per CPU core
  /// Results of an earlier worker on this device, so that they need not be measured again; nothing if there
  /// was none.
  std::optional<TimerCalibration> timer;
  std::optional<Ceilings> ceilings;
};
struct TimeRequest {};
struct StopRequest {};
using WorkerRequest = std::variant<OpenRequest, RowsLeft, TimeRequest, StopRequest>;

/// Exit code of a worker in which a thread crashed that prepared rows ahead: the row that was running is not
/// to blame.
inline constexpr int exit_lost_ahead = 86;

/// Exit code of a program between a supervisor and a worker on another machine (--worker-command) that lost
/// its connection, which has been or may be restored: the worker did not fail, and no row is to blame.
inline constexpr int exit_connection_lost = 87;

/// The request as one line, without a line end.
std::string encode(const WorkerRequest& request);
/// Parses a request. Throws Error that says what is wrong with the line.
WorkerRequest decode_request(std::string_view line);

/// A device chosen by the command line.
struct ChosenDevice {
  DeviceInfo info;
  std::string slug;  ///< name of its folder
};
struct DevicesEvent {
  std::vector<ChosenDevice> devices;
};
struct PhaseEvent {
  Phase phase = Phase::Host;
  double limit_s = 0;  ///< see PhaseListener
};
enum class WorkerSignal : std::uint8_t { Idle, WantsToTime, Timed };
std::string_view name_of(WorkerSignal signal);
/// The run is impossible, whichever rows are requested: the text that the worker would have printed, and its
/// exit code.
struct RefusedEvent {
  std::string text;
  int code = 0;  ///< of enum ExitCode
};
/// No further row can be run, by any worker, and no row is to blame: its output cannot be written.
struct CannotGoOnEvent {
  std::string text;  ///< why
};
/// Text for people, to be printed unchanged.
struct LogEvent {
  std::string text;
};
using WorkerEvent =
    std::variant<DevicesEvent, PhaseEvent, WorkerSignal, RefusedEvent, CannotGoOnEvent, LogEvent>;

std::string encode(const WorkerEvent& event);
/// Parses a worker's event; nothing for a line that is a journal event. Throws Error.
std::optional<WorkerEvent> decode_worker_event(std::string_view line);

}  // namespace assay
