#pragma once

#include "harness/app/worker_pipes.h"
#include "harness/base/phase.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace assay::app {

/// What --inject-fault makes a worker do, to show that a run survives it.
enum class FaultKind : std::uint8_t {
  Segfault,
  Abort,
  Exit,         ///< with code 0, in the middle of a row
  Kill,         ///< SIGKILL, as the kernel does for lack of memory
  HostLoop,     ///< for ever on the CPU
  CompileLoop,  ///< for ever in the driver's compiler
  DeviceLoop,   ///< for ever in the driver, while the device runs
  DeviceLost,   ///< VK_ERROR_DEVICE_LOST
  OutOfMemory,  ///< VK_ERROR_OUT_OF_DEVICE_MEMORY
  Garbage,      ///< what is no event, to stdout
  HalfLine,     ///< half an event to stdout, then the end
  Flood,        ///< 100 MB to stderr
};

/// "KIND@GLOB": in the rows whose id matches. Throws Error(Usage) that lists the kinds.
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
  bool is_on_ = false;  ///< in this row
};

}  // namespace assay::app
