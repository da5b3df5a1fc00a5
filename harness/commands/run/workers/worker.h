#pragma once

#include "harness/base/status.h"
#include "harness/commands/context.h"
#include "harness/engine/supervision/protocol.h"
#include "harness/report/journal/codec.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

namespace assay::app {

/// A worker's output to its supervisor: the process's stdout, which is reserved for it from now on (other
/// output to stdout goes to stderr). Ends the process if nothing reads it.
class WorkerOutput {
 public:
  /// Throws Error(Infrastructure) if the system has no descriptor left.
  WorkerOutput();
  ~WorkerOutput();
  WorkerOutput(const WorkerOutput&) = delete;
  WorkerOutput& operator=(const WorkerOutput&) = delete;

  void line(std::string_view line);
  void tell(const WorkerEvent& event) { line(encode(event)); }
  /// Writes the text unchanged, without adding a line end.
  void text(std::string_view text);

 private:
  int fd_;
  std::mutex mutex_;
};

/// A supervisor's requests, read by a separate thread, so that a stop is noticed while a row runs. Ends the
/// process when stdin ends, as the supervisor is gone.
class WorkerInput {
 public:
  WorkerInput();

  /// Waits for the next request other than stop, and returns it; nullopt once a stop came (see
  /// stop_requested()). Throws Error for an invalid request.
  std::optional<WorkerRequest> next();
  bool stop_requested() const { return stop_; }

 private:
  void listen();
  void take(const std::string& line);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> lines_;
  std::atomic<bool> stop_ = false;
};

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

  /// Whether a row with this id has the fault.
  bool is_of(std::string_view id) const;
  /// Row `id` begins.
  void begin(std::string_view id, WorkerOutput& output);
  /// A phase of that row begins.
  void phase(Phase phase) const;

 private:
  FaultKind kind_ = FaultKind::Segfault;
  std::string glob_;
  bool is_on_ = false;  ///< the current row has the fault
};

/// Limits this process's memory for data (heap, stacks, private mappings; not the mappings of devices by
/// drivers) to `gib` GiB: "0.5". Larger allocations fail. Throws Error(Usage) if `gib` is not a number above
/// 0.
void limit_memory(const std::string& gib);

/// `assay worker`: reads a supervisor's requests on stdin and sends events on stdout, in the protocol of
/// harness/engine/supervision/protocol.h. Output of libraries and drivers to stdout goes to stderr. Ends the
/// process on a stop request, and when stdin ends.
[[noreturn]] void serve_worker(const Context& context);

}  // namespace assay::app
