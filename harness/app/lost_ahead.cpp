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

/// What was done about each signal before.
std::array<struct sigaction, signals.size()>& actions_before() {
  static std::array<struct sigaction, signals.size()> actions{};
  return actions;
}

/// Does nothing but what a handler of signals may. In another thread the signal comes again when this
/// returns, and is met as it was before.
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
