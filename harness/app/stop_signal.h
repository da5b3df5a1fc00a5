#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <functional>
#include <mutex>
#include <thread>

namespace assay::app {

/// Ctrl-C (SIGINT), SIGTERM and the end of the terminal (SIGHUP, unless it is ignored: nohup) as a request to
/// stop, which is asked for and stays: a row comes to its end, the journal and the reports too. A second
/// signal ends the process at once, as if nobody listened.
///
/// To be made before any other thread: those that come later leave the signals to this one.
class StopSignal {
 public:
  /// `when_requested` is called once, on a thread of its own; may be empty.
  explicit StopSignal(std::function<void()> when_requested = {});
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  bool requested() const { return requested_; }
  /// Waits until a stop is requested, at most so long; whether it is.
  bool requested_within(std::chrono::milliseconds time);

 private:
  void listen();
  void request();

  std::function<void()> when_requested_;
  sigset_t signals_{};
  sigset_t blocked_before_{};
  std::atomic<bool> requested_ = false;
  std::atomic<bool> closing_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::thread listener_;
};

}  // namespace assay::app
