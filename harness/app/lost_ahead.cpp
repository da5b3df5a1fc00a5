#include "harness/app/lost_ahead.h"

#include "harness/base/parallel.h"
#include "harness/engine/workers/protocol.h"

#include <array>
#include <csignal>
#include <cstddef>
#include <unistd.h>

namespace assay::app {
namespace {

constexpr std::array signals{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

/// The previous action of each signal.
std::array<struct sigaction, signals.size()>& actions_before() {
  static std::array<struct sigaction, signals.size()> actions{};
  return actions;
}

/// Async-signal-safe. In a thread that is not in the background, restores the previous action and raises the
/// signal again.
void take_signal(int signal) {
  if (is_in_background()) ::_exit(exit_lost_ahead);
  for (std::size_t i = 0; i < signals.size(); ++i) {
    if (signals[i] == signal) ::sigaction(signal, &actions_before()[i], nullptr);
  }
  ::raise(signal);
}

}  // namespace

void exit_when_lost_ahead() {
  for (std::size_t i = 0; i < signals.size(); ++i) {
    struct sigaction action {};
    action.sa_handler = take_signal;
    action.sa_flags = SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    ::sigaction(signals[i], &action, &actions_before()[i]);
  }
}

}  // namespace assay::app
