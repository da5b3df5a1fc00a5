#pragma once

#include "harness/engine/workers/device_supervisor.h"
#include "harness/engine/workers/worker_process.h"

#include <functional>
#include <span>

namespace assay {

/// A device's supervisor and the process that it handles.
struct SupervisedDevice {
  WorkerProcess* process = nullptr;
  DeviceSupervisor* supervisor = nullptr;
};

/// Brings each supervisor what its worker says until all are over. Of workers that want to time one does at
/// any time: they share this machine's CPU. When `stop_requested` (may be empty) becomes true, all are told
/// to stop. `heard` (may be empty) is called whenever all have been brought what there was, and may let
/// others begin.
void supervise(std::span<const SupervisedDevice> devices, const std::function<bool()>& stop_requested,
               const std::function<void()>& heard = {});

/// Waits until `process` has written a line or has ended, at most so long: the line, or nothing. For what
/// comes before there is a supervisor.
struct FirstLine {
  std::optional<std::string> line;
  std::optional<ChildEnd> end;  ///< it has ended, perhaps behind that line; neither: the time is over
};
FirstLine first_line(WorkerProcess& process, double seconds, const std::function<bool()>& stop_requested);

}  // namespace assay
