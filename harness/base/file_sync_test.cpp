#include "harness/base/file_sync.h"

#include "harness/base/file.h"
#include "tests/support/temporary_folder.h"

#include <gtest/gtest.h>

#include <fcntl.h>

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
