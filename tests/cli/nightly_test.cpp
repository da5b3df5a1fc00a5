#include "tests/support/process.h"
#include "tests/support/temporary_folder.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <sys/wait.h>
#include <thread>

// scripts/nightly.sh beside a run that takes long.

namespace assay::test {
namespace {

namespace fs = std::filesystem;

/// A tree whose scripts/run.sh waits until it is stopped, and says by which signal.
void write_tree(const TemporaryFolder& folder) {
  fs::create_directory(folder / "scripts");
  fs::copy_file(fs::path(ASSAY_SOURCE_DIR) / "scripts/nightly.sh", folder / "scripts/nightly.sh");
  const fs::path run = folder.write("scripts/run.sh",
                                    "#!/bin/bash\n"
                                    "trap 'echo INT >stopped; exit 3' INT\n"
                                    "trap 'echo TERM >stopped; exit 3' TERM\n"
                                    "touch started\n"
                                    "for ((i = 0; i < 600; ++i)); do sleep 0.1; done\n");
  fs::permissions(run, fs::perms::owner_all);
}

TEST(Nightly, PassesSignalsOnToTheRunAndEndsWithIt) {
  for (const auto& [signal, name] : {std::pair(SIGINT, "INT\n"), std::pair(SIGTERM, "TERM\n")}) {
    const TemporaryFolder folder;
    write_tree(folder);
    const int pid = start({.words = {folder / "scripts/nightly.sh", folder / "out"}});
    for (int i = 0; i < 3000 && !fs::exists(folder / "started"); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    ::kill(pid, signal);
    int status = 0;
    ::waitpid(pid, &status, 0);
    ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
    EXPECT_EQ(WEXITSTATUS(status), 3);
    EXPECT_EQ(read_file(folder / "stopped"), name);
  }
}

}  // namespace
}  // namespace assay::test
