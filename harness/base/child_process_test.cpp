#include "harness/base/child_process.h"

#include "harness/base/clock.h"
#include "harness/base/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <string>
#include <unistd.h>

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

ChildEnd end_of(ChildProcess& process) {
  const Stopwatch watch;
  while (!process.end() && watch.s() < 60) sleep_for_seconds(0.002);
  return process.end().value_or(ChildEnd{-1, -1});
}

std::string text_from(int fd) {
  std::string text;
  char byte = 0;
  while (::read(fd, &byte, 1) == 1) text += byte;
  return text;
}

TEST(ChildProcess, HasPipesAndAnEnd) {
  ChildProcess process(shell_command("read word; echo got $word; echo aside >&2; exit 3"));
  EXPECT_TRUE(process.send("hello\n"));
  const ChildEnd end = end_of(process);
  EXPECT_EQ(end.exit_code, 3);
  EXPECT_EQ(end.signal, 0);
  EXPECT_EQ(text_from(process.output()), "got hello\n");
  EXPECT_EQ(text_from(process.errors()), "aside\n");
}

TEST(ChildProcess, HasOurEnvironmentAndWhatIsNotSetThere) {
  ASSERT_EQ(::setenv("ASSAY_TEST_SET", "ours", 1), 0);
  ChildProcess process(shell_command("echo $ASSAY_TEST_SET $ASSAY_TEST_UNSET $PATH"),
                       {{"ASSAY_TEST_SET", "other"}, {"ASSAY_TEST_UNSET", "new"}});
  end_of(process);
  EXPECT_EQ(text_from(process.output()), std::string("ours new ") + std::getenv("PATH") + "\n");
}

TEST(ChildProcess, TellsTheSignalThatEndedIt) {
  ChildProcess process(shell_command("kill -SEGV $$"));
  const ChildEnd end = end_of(process);
  EXPECT_EQ(end.signal, SIGSEGV);
  EXPECT_THAT(to_string(end), HasSubstr("SIGSEGV"));
}

TEST(ChildProcess, TellsWhatAShellSaysOfItsCommand) {
  EXPECT_EQ(to_string({.exit_code = 137}), "exited with code 137, the shell's code for SIGKILL");
  EXPECT_EQ(to_string({.exit_code = 255}), "exited with code 255");
}

TEST(ChildProcess, IsKilledWithAllThatItStarted) {
  // The grandchild holds the pipe, which ends only when both processes are gone.
  ChildProcess process(shell_command("sleep 100 & echo started; wait"));
  const Stopwatch watch;
  while (text_from(process.output()).empty() && watch.s() < 60) sleep_for_seconds(0.002);
  process.kill();
  EXPECT_EQ(end_of(process).signal, SIGKILL);
  char byte = 0;
  while (::read(process.output(), &byte, 1) != 0 && watch.s() < 60) sleep_for_seconds(0.002);
  EXPECT_LT(watch.s(), 50);
}

TEST(ChildProcess, TakesNoMoreWhenItHasEnded) {
  std::signal(SIGPIPE, SIG_IGN);
  ChildProcess process(shell_command("exit 0"));
  end_of(process);
  EXPECT_FALSE(process.send(std::string(1 << 20, 'x')));
}

TEST(ChildProcess, SaysWhatCannotBeStarted) {
  EXPECT_THAT([] { ChildProcess process({"/nowhere/to/be/found"}); },
              ThrowsMessage<Error>(HasSubstr("cannot start '/nowhere/to/be/found'")));
}

}  // namespace
}  // namespace assay
