#pragma once

#include "harness/base/phase.h"
#include "harness/commands/run/workers/worker_pipes.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace assay::app {

/// A fault that --inject-fault makes a worker cause, to show that a run survives it.
enum class FaultKind : std::uint8_t {
  Segfault,
  Abort,
  Exit,         ///< with code 0, in the middle of a row
  Kill,         ///< SIGKILL, as from the kernel when memory runs out
  HostLoop,     ///< endless loop on the CPU
  CompileLoop,  ///< endless loop in the driver's compiler
  DeviceLoop,   ///< endless loop in the driver while the device runs
  DeviceLost,   ///< VK_ERROR_DEVICE_LOST
  OutOfMemory,  ///< VK_ERROR_OUT_OF_DEVICE_MEMORY
  Garbage,      ///< text that is not an event, to stdout
  HalfLine,     ///< half an event to stdout, then the end
  Flood,        ///< 100 MB to stderr
};

/// Parses "KIND@GLOB": the fault occurs in rows whose id matches. Throws Error(Usage) that lists the kinds.
class InjectedFault {
 public:
  explicit InjectedFault(const std::string& text);

  /// Row `id` begins.
  void begin(std::string_view id, WorkerOutput& output);
  /// A phase of that row begins.
  void phase(Phase phase) const;

 private:
  FaultKind kind_ = FaultKind::Segfault;
  std::string glob_;
  bool is_on_ = false;  ///< the current row has the fault
};

}  // namespace assay::app
