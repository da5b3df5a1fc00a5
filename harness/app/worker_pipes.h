#pragma once

#include "harness/engine/workers/protocol.h"
#include "harness/report/record/codec.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

namespace assay::app {

/// A worker's way to its supervisor: the process's stdout, which nobody else writes to from now on (what
/// others print there goes to stderr). Leaves the process when nobody reads it.
class WorkerOutput {
 public:
  /// Throws Error(Infrastructure) where the system has no descriptor left.
  WorkerOutput();
  ~WorkerOutput();
  WorkerOutput(const WorkerOutput&) = delete;
  WorkerOutput& operator=(const WorkerOutput&) = delete;

  void line(std::string_view line);
  void tell(const WorkerEvent& event) { line(encode(event)); }
  /// As it is, without a line's end.
  void text(std::string_view text);

 private:
  int fd_;
  std::mutex mutex_;
};

/// What a supervisor says, read by a thread of its own, so that a stop is heard while a row runs. Leaves the
/// process when stdin ends: nobody would hear what it has to say.
class WorkerInput {
 public:
  WorkerInput();

  /// The next request but stop, which is asked for with stop_requested(); nothing once that came. Waits.
  /// Throws Error for what is none.
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
