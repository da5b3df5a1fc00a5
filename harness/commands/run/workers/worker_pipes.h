#pragma once

#include "harness/engine/supervision/protocol.h"
#include "harness/report/journal/codec.h"

#include <atomic>
#include <condition_variable>
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

}  // namespace assay::app
