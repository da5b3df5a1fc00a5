#include "harness/commands/stop_signal.h"

#include <pthread.h>
#include <system_error>
#include <utility>

namespace assay::app {

StopSignal::StopSignal(std::function<void()> when_requested, std::chrono::milliseconds one_request)
    : when_requested_(std::move(when_requested)), one_request_(one_request) {
  sigemptyset(&signals_);
  sigaddset(&signals_, SIGINT);
  sigaddset(&signals_, SIGTERM);
  // nohup lets a run outlive its terminal by ignoring this signal; waiting for it would undo that.
  struct sigaction hangup {};
  if (::sigaction(SIGHUP, nullptr, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
    sigaddset(&signals_, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &signals_, &blocked_before_);
  try {
    listener_ = std::thread([this] { listen(); });
  } catch (const std::system_error&) {
    // The system has no more threads: a signal ends the process immediately, and the journal is kept.
    pthread_sigmask(SIG_SETMASK, &blocked_before_, nullptr);
  }
}

StopSignal::~StopSignal() {
  if (!listener_.joinable()) return;
  closing_ = true;
  // Sent only to this thread, which waits for the signal, so that it ends nothing else.
  pthread_kill(listener_.native_handle(), SIGTERM);  // NOLINT(bugprone-bad-signal-to-kill-thread)
  listener_.join();
  pthread_sigmask(SIG_SETMASK, &blocked_before_, nullptr);
}

bool StopSignal::requested_within(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, time, [this] { return requested(); });
}

void StopSignal::listen() {
  for (;;) {
    int signal = 0;
    sigwait(&signals_, &signal);
    if (closing_) return;
    if (is_same_request()) continue;
    if (requested_) {
      std::signal(signal, SIG_DFL);
      pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
      std::raise(signal);  // ends the process, so that its parent sees why
    }
    request();
  }
}

bool StopSignal::is_same_request() const {
  return requested_ && std::chrono::steady_clock::now() - first_ < one_request_;
}

void StopSignal::request() {
  first_ = std::chrono::steady_clock::now();
  {
    const std::lock_guard lock(mutex_);
    requested_ = true;
  }
  changed_.notify_all();
  if (when_requested_) when_requested_();
}

}  // namespace assay::app
