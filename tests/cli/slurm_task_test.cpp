#include "tests/support/process.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <sys/wait.h>
#include <thread>

// scripts/farm/night/slurm_task.sh with a binary and a Slurm that only write down how they are called.

namespace assay::test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// A run that waits for SIGTERM, and then ends like a run that a signal ended.
constexpr const char* waiting_run = R"sh(#!/bin/bash
trap 'echo TERM >>stopped; exit 3' TERM
touch started
for ((i = 0; i < 600; ++i)); do sleep 0.1; done
)sh";

/// Stands for a command of the system, and first sends SIGUSR1 to the process in the file `pid`, once.
constexpr const char* signalling = R"sh(#!/bin/bash
until [[ -s $PLACE/pid ]]; do sleep 0.01; done
[[ -e $PLACE/sent ]] || { touch "$PLACE/sent" && kill -USR1 "$(<"$PLACE/pid")"; }
PATH=/usr/bin:/bin exec "$(basename "$0")" "$@"
)sh";

class SlurmTask : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder / "package/scripts/farm");
    fs::copy(fs::path(ASSAY_SOURCE_DIR) / "scripts/farm/night", folder / "package/scripts/farm/night");
    write_program("package/assay", waiting_run);
    write_program("bin/scontrol", "#!/bin/bash\necho \"$*\" >>\"$PLACE/scontrol\"\n");
    write_program("bin/squeue", "#!/bin/bash\ncat \"$PLACE/queue\"\n");
    folder.write("queue", "7\n");
    folder.write("night/console/slow.slurm.txt", "");
    folder.write("night/plan", "assay=" + (folder / "package/assay").string() +
                                   " shards=2 keep='' options=(--mode accu)\n");
    folder.write("night/devices.tsv", "slow\tbb\tSlow\tslow 2\n");
    folder.write("night/jobs", "7\n6\n");
  }

  void write_program(const std::string& name, const std::string& text) const {
    fs::permissions(folder.write(name, text), fs::perms::owner_all);
  }

  int start_task() const {
    const std::string path = (folder / "bin").string() + ":" + std::getenv("PATH");
    const int pid =
        start({.words = {folder / "package/scripts/farm/night/slurm_task.sh", folder / "night", "slow"},
               .environment = {{"PATH", path},
                               {"PLACE", folder.path()},
                               {"SLURM_ARRAY_TASK_ID", "2"},
                               {"SLURM_ARRAY_JOB_ID", "6"},
                               {"SLURM_JOB_ID", "8"}}},
              folder / "out", folder / "err");
    folder.write("pid", std::to_string(pid));
    return pid;
  }

  static int exit_code_of(int pid) {
    int status = 0;
    ::waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  void wait_for(const std::string& file) const {
    for (int i = 0; i < 3000 && !fs::exists(folder / file); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }

  TemporaryFolder folder;
};

TEST_F(SlurmTask, ASignalEndsTheRunAndTheTaskIsRequeued) {
  const int pid = start_task();
  wait_for("package/started");
  ::kill(pid, SIGUSR1);
  EXPECT_EQ(exit_code_of(pid), 0);
  EXPECT_EQ(folder.read("package/stopped"), "TERM\n");
  EXPECT_EQ(folder.read("scontrol"), "requeue 8\n");
  EXPECT_THAT(folder.read("err"),
              AllOf(HasSubstr("the time limit is near"), HasSubstr("exit code 3, ended by USR1")));
}

TEST_F(SlurmTask, ASignalBeforeTheRunHasStartedEndsItToo) {
  for (const char* command : {"dirname", "date"}) {  // called before and after lib.sh is read
    write_program(std::string("bin/") + command, signalling);
    const int pid = start_task();
    EXPECT_EQ(exit_code_of(pid), 0) << folder.read("err");
    EXPECT_EQ(folder.read("scontrol"), "requeue 8\n") << command << ": " << folder.read("err");
    EXPECT_TRUE(fs::exists(folder / "sent"));
    for (const std::string& name :
         {"bin/" + std::string(command), std::string("scontrol"), std::string("sent"), std::string("pid")})
      fs::remove(folder / name);
  }
}

TEST_F(SlurmTask, OfANightThatWasGivenUpIsNotRequeued) {
  folder.write("queue", "");
  const int pid = start_task();
  wait_for("package/started");
  ::kill(pid, SIGUSR1);
  EXPECT_EQ(exit_code_of(pid), 3);
  EXPECT_FALSE(fs::exists(folder / "scontrol"));
  EXPECT_THAT(folder.read("err"), HasSubstr("not requeued: the night was given up"));
}

}  // namespace
}  // namespace assay::test
