#include "harness/base/file_sync.h"

#include "harness/base/file.h"
#include "tests/support/no_threads.h"
#include "tests/support/temporary_folder.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <fcntl.h>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace assay {
namespace {

using std::chrono::milliseconds;

TEST(FileSync, EndsWithoutWaitingForItsTime) {
  const test::TemporaryFolder folder;
  const FileDescriptor file(::open((folder / "x").c_str(), O_WRONLY | O_CREAT, 0600));
  FileSync sync(file.get(), std::chrono::hours(1));
  for (int i = 0; i < 3; ++i) {
    write_bytes(file.get(), "line\n");
    sync.written();
  }
  EXPECT_EQ(sync.error(), 0);
}

// As under `ulimit -u`, in a process of its own.
TEST(FileSync, SyncsWithoutAThreadWhereTheSystemHasNone) {
  const test::TemporaryFolder folder;
  const FileDescriptor file(::open((folder / "x").c_str(), O_WRONLY | O_CREAT, 0600));
  const pid_t child = ::fork();
  if (child == 0) {
    const bool limited = test::refuse_new_threads();
    int error = 0;
    try {
      FileSync sync(file.get(), milliseconds(1));
      write_bytes(file.get(), "line\n");
      sync.written();
      FileSync broken(-1, milliseconds(1));
      broken.written();
      error = broken.error();  // set at once: without a thread, the writer waits
    } catch (const std::system_error&) {
      ::_exit(3);
    }
    ::_exit(!limited ? 2 : error == EBADF ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0) << "1: it had a thread, 2: no limit could be set, 3: it threw";
}

TEST(FileSync, TellsTheFirstFailure) {
  FileSync sync(-1, milliseconds(1));  // not a file
  sync.written();
  for (int i = 0; i < 3000 && sync.error() == 0; ++i) std::this_thread::sleep_for(milliseconds(10));
  EXPECT_EQ(sync.error(), EBADF);
}

TEST(FileSync, TakesFilesThatCannotBeSyncedAsTheyAre) {
  const FileDescriptor null(::open("/dev/null", O_WRONLY));
  FileSync sync(null.get(), milliseconds(1));
  sync.written();
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_EQ(sync.error(), 0);
}

}  // namespace
}  // namespace assay
