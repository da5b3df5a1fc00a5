#include "harness/base/file.h"

#include "harness/base/error.h"
#include "tests/support/no_threads.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <vector>

namespace assay {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using ::testing::HasSubstr;

std::size_t files_in(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), {}));
}

TEST(WholeFile, IsReadByteByByteWhateverItsLength) {
  const test::TemporaryFolder folder;
  for (const std::size_t length : {0U, 1U, 65536U, 200001U}) {
    std::string bytes(length, '\0');
    for (std::size_t i = 0; i < length; ++i) bytes[i] = static_cast<char>(i * 7 + (i >> 16));
    folder.write("x", bytes);
    EXPECT_EQ(whole_file(folder / "x"), bytes) << length;
  }
}

TEST(WholeFile, EndsAfterTheMostThatIsAskedFor) {
  const test::TemporaryFolder folder;
  const std::string bytes(100000, 'x');
  folder.write("x", bytes);
  for (const std::size_t most : {0U, 1U, 65536U, 65537U, 99999U, 100000U, 100001U}) {
    EXPECT_EQ(whole_file(folder / "x", most), bytes.substr(0, most)) << most;
  }
}

TEST(ReadToEnd, ReadsAPipeUntilItsWriterIsGone) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const FileDescriptor out(ends[0]);
  FileDescriptor in(ends[1]);
  ASSERT_EQ(write_bytes(in.get(), "some text"), 9U);
  in.close();
  EXPECT_EQ(read_to_end(out.get()), "some text");
}

TEST(WholeFile, IsNothingWithTheReasonWhereItCannotBeRead) {
  const test::TemporaryFolder folder;
  EXPECT_EQ(whole_file(folder / "missing"), std::nullopt);
  EXPECT_EQ(errno, ENOENT);
  EXPECT_EQ(whole_file(folder.path()), std::nullopt);
  EXPECT_EQ(errno, EISDIR);
}

TEST(ReplaceFile, LeavesFilesThatAreCalledLikeATemporaryOneAlone) {
  const test::TemporaryFolder folder;
  folder.write("x.csv.tmp", "precious");
  replace_file(folder / "x.csv", "new");
  EXPECT_EQ(test::read_file(folder / "x.csv"), "new");
  EXPECT_EQ(test::read_file(folder / "x.csv.tmp"), "precious");
  EXPECT_EQ(files_in(folder.path()), 2U);
}

TEST(ReplaceFile, IsOneOfThoseWrittenAtTheSameTime) {
  const test::TemporaryFolder folder;
  std::vector<std::thread> threads;
  for (const char c : {'a', 'b', 'c', 'd'}) {
    threads.emplace_back([&, c] {
      for (int i = 0; i < 50; ++i) replace_file(folder / "x.csv", std::string(100000, c));
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::string left = test::read_file(folder / "x.csv");
  EXPECT_EQ(left, std::string(100000, left.at(0)));
  EXPECT_EQ(files_in(folder.path()), 1U);
}

TEST(ReplaceFile, ReplacesALinkAndNotWhatItNames) {
  const test::TemporaryFolder folder;
  folder.write("other", "precious");
  fs::create_symlink("other", folder / "accu.csv");
  replace_file(folder / "accu.csv", "new");
  EXPECT_EQ(test::read_file(folder / "other"), "precious");
  EXPECT_FALSE(fs::is_symlink(folder / "accu.csv"));
}

TEST(ReplaceFile, TakesANameAsLongAsTheSystemDoes) {
  const test::TemporaryFolder folder;
  const std::string name(255, 'n');
  replace_file(folder / name, "new");
  EXPECT_EQ(test::read_file(folder / name), "new");
}

TEST(WriteNamedFile, FollowsLinksAndKeepsThem) {
  const test::TemporaryFolder folder;
  fs::create_directory(folder / "below");
  folder.write("below/old", "old");
  fs::create_symlink("below/old", folder / "link");
  fs::create_symlink("below/fresh", folder / "dangling");
  write_named_file(folder / "link", "new");
  write_named_file(folder / "dangling", "new");
  EXPECT_EQ(test::read_file(folder / "below/old"), "new");
  EXPECT_EQ(test::read_file(folder / "below/fresh"), "new");
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_TRUE(fs::is_symlink(folder / "dangling"));
}

TEST(ReadRegularFile, PassesOnTheWholeFileInOrder) {
  const test::TemporaryFolder folder;
  std::string bytes(200001, '\0'), got;
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7 + (i >> 16));
  const std::string file = folder.write("x", bytes);
  EXPECT_TRUE(read_regular_file(file, bytes.size(), [&](std::string_view piece) { got += piece; }));
  EXPECT_EQ(got, bytes);
}

TEST(ReadRegularFile, ReadsNothingElseAndNoLargerFile) {
  const test::TemporaryFolder folder;
  std::string got;
  const auto reads = [&](const fs::path& path, std::uintmax_t most) {
    got.clear();
    return read_regular_file(path, most, [&](std::string_view piece) { got += piece; });
  };
  const std::string text(100'000, 'x');
  const std::string file = folder.write("file", text);
  fs::create_symlink("file", folder / "link");
  for (const fs::path& path : std::vector<fs::path>{file, folder / "link"}) {
    EXPECT_TRUE(reads(path, text.size()));
    EXPECT_EQ(got, text);
    EXPECT_FALSE(reads(path, text.size() - 1));
    EXPECT_EQ(got, "");
  }
  fs::resize_file(file, std::uintmax_t{1} << 40);
  EXPECT_FALSE(reads(file, text.size())) << "a sparse file of 1 TiB";
  const std::string fifo = folder / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  for (const fs::path& path : std::vector<fs::path>{fifo, "/dev/zero", folder / "nothing", folder / ""}) {
    EXPECT_FALSE(reads(path, text.size())) << path;
    EXPECT_EQ(got, "");
  }
}

TEST(WriteNamedFile, WritesToADeviceOrFifoWithoutReplacingIt) {
  const test::TemporaryFolder folder;
  const std::string fifo = folder / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const FileDescriptor reader(::open(fifo.c_str(), O_RDONLY | O_NONBLOCK));
  write_named_file(fifo, "through");
  std::string got(7, '\0');
  EXPECT_EQ(::read(reader.get(), got.data(), got.size()), 7);
  EXPECT_EQ(got, "through");
  fs::create_symlink("/dev/full", folder / "full");
  try {
    write_named_file(folder / "full", "x");
    FAIL() << "a full device took it";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::Infrastructure);
    EXPECT_THAT(error.what(), HasSubstr("No space left on device"));
  }
  EXPECT_TRUE(fs::is_symlink(folder / "full"));
  EXPECT_TRUE(fs::is_fifo(fifo));
}

TEST(StandardDescriptors, AreOpenAfterwardsWhereTheyWereClosed) {
  EXPECT_EXIT(
      {
        ::close(STDOUT_FILENO);
        open_standard_descriptors();
        const int next = ::open("/dev/zero", O_RDONLY);
        struct stat out {};
        struct stat null {};
        const bool right = ::fstat(STDOUT_FILENO, &out) == 0 && ::stat("/dev/null", &null) == 0 &&
                           out.st_rdev == null.st_rdev && next > STDERR_FILENO;
        std::_Exit(right ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

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

TEST(SortedEntries, AreByNameAndNoneOfWhatIsNoFolder) {
  const test::TemporaryFolder folder;
  for (const char* name : {"b", "a/x", "c"}) folder.write(name, "");
  const auto names = [&](const std::string& of) {
    std::vector<std::string> found;
    for (const fs::path& entry : sorted_entries(folder / of)) found.push_back(entry.filename());
    return found;
  };
  EXPECT_EQ(names("."), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(names("b"), std::vector<std::string>());
  EXPECT_EQ(names("none"), std::vector<std::string>());
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
