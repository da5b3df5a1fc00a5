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
/// stop, which is polled and stays set: the running row, the journal and the reports are finished first. A
/// signal a second or more after the first ends the process immediately, with the signal's default action,
/// and so does the first if the system has no thread left to wait for it. Earlier ones count as the same
/// request: timeout(1), for example, signals its child and then the child's process group.
///
/// Must be created before any other thread: later threads leave the signals to this one.
class StopSignal {
 public:
  /// `when_requested` is called once, on a separate thread; may be empty. Signals that come within
  /// `one_request` of the first count as the same request.
  explicit StopSignal(std::function<void()> when_requested = {},
                      std::chrono::milliseconds one_request = std::chrono::seconds(1));
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  bool requested() const { return requested_; }
  /// Waits for a stop request for at most `time`; returns whether there is one.
  bool requested_within(std::chrono::milliseconds time);

 private:
  void listen();
  bool is_same_request() const;
  void request();

  std::function<void()> when_requested_;
  std::chrono::milliseconds one_request_;
  std::chrono::steady_clock::time_point first_;  ///< when the first signal came; used by the listener alone
  sigset_t signals_{};
  sigset_t blocked_before_{};
  std::atomic<bool> requested_ = false;
  std::atomic<bool> closing_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::thread listener_;
};

}  // namespace assay::app
