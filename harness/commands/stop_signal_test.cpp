#include "harness/commands/stop_signal.h"

#include "tests/support/no_threads.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <unistd.h>

// Each body runs in a process of its own: signals are the process's, and other tests leave threads behind
// that would take them.

namespace assay::app {
namespace {

constexpr std::chrono::seconds long_enough{30};

[[noreturn]] void conclude(bool right) {
  std::_Exit(right ? 0 : 1);
}

TEST(StopSignal, IsRequestedByASignalAndStaysSo) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    EXPECT_EXIT(
        {
          int calls = 0;
          bool right = true;
          {
            StopSignal stop([&] { ++calls; });
            right = !stop.requested() && !stop.requested_within(std::chrono::milliseconds(0));
            ::kill(::getpid(), signal);
            right = right && stop.requested_within(long_enough);
            for (int i = 0; i < 3; ++i) right = right && stop.requested();
          }
          conclude(right && calls == 1);
        },
        ::testing::ExitedWithCode(0), "");
  }
}

TEST(StopSignal, TheFirstEndsTheProcessWhereTheSystemHasNoThread) {
  EXPECT_EXIT(
      {
        if (!test::refuse_new_threads()) conclude(false);
        { const StopSignal ended; }
        const StopSignal stop;
        ::kill(::getpid(), SIGTERM);
        conclude(false);
      },
      ::testing::KilledBySignal(SIGTERM), "");
}

TEST(StopSignal, ALaterSignalEndsTheProcess) {
  EXPECT_EXIT(
      {
        StopSignal stop({}, std::chrono::milliseconds(0));
        ::kill(::getpid(), SIGINT);
        if (!stop.requested_within(long_enough)) conclude(false);
        ::kill(::getpid(), SIGINT);
        for (;;) ::pause();
      },
      ::testing::KilledBySignal(SIGINT), "");
}

TEST(StopSignal, SignalsThatComeTogetherAreOneRequest) {
  EXPECT_EXIT(
      {
        int calls = 0;
        {
          StopSignal stop([&] { ++calls; }, std::chrono::hours(1));
          for (const int signal : {SIGTERM, SIGINT, SIGTERM, SIGHUP}) ::kill(::getpid(), signal);
          for (sigset_t pending; ::sigpending(&pending), ::sigisemptyset(&pending) == 0;) ::usleep(1000);
        }
        conclude(calls == 1);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST(StopSignal, LeavesAHangUpIgnoredForNohup) {
  EXPECT_EXIT(
      {
        std::signal(SIGHUP, SIG_IGN);
        StopSignal stop;
        ::kill(::getpid(), SIGHUP);
        conclude(!stop.requested_within(std::chrono::milliseconds(50)));
      },
      ::testing::ExitedWithCode(0), "");
}

TEST(StopSignal, LeavesSignalsAsTheyWereWhenItEnds) {
  EXPECT_EXIT(
      {
        { const StopSignal stop; }
        ::kill(::getpid(), SIGTERM);
        for (;;) ::pause();
      },
      ::testing::KilledBySignal(SIGTERM), "");
}

}  // namespace
}  // namespace assay::app
