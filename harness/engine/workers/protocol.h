#pragma once

#include "harness/base/error.h"
#include "harness/base/phase.h"
#include "harness/op/ceilings.h"
#include "harness/op/device_info.h"
#include "harness/op/timer_calibration.h"
#include "harness/report/record/rows_left.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

// What a supervisor and its worker say to each other: lines of JSON on the worker's stdin and stdout. The
// worker tells of its rows in the journal's own events; what is not for the journal begins with {"worker":
// ...}.
//
//   supervisor  {"request":"open", "only_devices":true, ...}
//   worker      {"worker":"devices", ...} those that the command line chooses
//   supervisor  {"request":"open", ...}   which rows, on which device; may be the first
//   worker      {"event":"run", ...}, {"event":"plan", ...}
//   supervisor  {"request":"rows", ...}   run these
//   worker      {"event":"begin" | "judged" | "block" | "end", ...}, between them {"worker":"phase", ...}
//               {"worker":"wants_to_time"}, and when it was told {"request":"time"}: ..., {"worker":"timed"}
//               {"worker":"idle"}         all of them have ended; more may be asked for
//   supervisor  {"request":"stop"}        end where you are
//
// A worker whose stdin ends has no supervisor any more and exits. One that lost its device, or whose row
// hangs on it, exits after that row's end.

namespace assay {

/// Raised when an older side would misunderstand.
inline constexpr int worker_protocol = 1;

struct OpenRequest {
  int protocol = worker_protocol;
  std::vector<std::string> command;  ///< the run's command line: "assay", "run", ...
  std::string run_id;                ///< as RunInfo
  std::string directory;             ///< to run in; empty: where the worker is
  bool only_devices = false;         ///< tell the devices, and wait for a request that says which
  std::size_t device = 0;            ///< which of the devices that the arguments choose
  ShardInfo shard;                   ///< the part of the rows that the run has
  std::uint64_t secret_seed = 0;     ///< as RunInfo
  std::string uuid;                  ///< of the device that it must be; empty: any
  int jobs = 0;                      ///< threads for references; 0: as many as the CPU has
  /// Of an earlier worker on this device, so that it need not be measured again; nothing where there was
  /// none.
  std::optional<TimerCalibration> timer;
  std::optional<Ceilings> ceilings;
};
struct TimeRequest {};
struct StopRequest {};
using WorkerRequest = std::variant<OpenRequest, RowsLeft, TimeRequest, StopRequest>;

/// Exit code of a worker in which a thread crashed that prepared rows whose turn was yet to come: the row
/// that runs has nothing to do with it.
inline constexpr int exit_lost_ahead = 86;

/// One line, without its end.
std::string encode(const WorkerRequest& request);
/// Throws Error that says what is wrong with the line.
WorkerRequest decode_request(std::string_view line);

/// A device that the command line chooses.
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
/// The run cannot be, whatever row is asked for: what the worker would have printed, and its exit code.
struct RefusedEvent {
  std::string text;
  int code = 0;  ///< of enum ExitCode
};
/// For people: to be printed as it is.
struct LogEvent {
  std::string text;
};
using WorkerEvent = std::variant<DevicesEvent, PhaseEvent, WorkerSignal, RefusedEvent, LogEvent>;

std::string encode(const WorkerEvent& event);
/// Nothing for a line that is an event of the journal. Throws Error.
std::optional<WorkerEvent> decode_worker_event(std::string_view line);

}  // namespace assay
