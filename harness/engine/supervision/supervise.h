#pragma once

#include "harness/engine/supervision/device_supervisor.h"
#include "harness/engine/supervision/worker_process.h"

#include <functional>
#include <span>

namespace assay {

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
/// supervisor.
FirstLine first_line(WorkerProcess& process, double seconds, const std::function<bool()>& stop_requested);

}  // namespace assay
