#include "harness/engine/supervision/worker_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

namespace assay {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string lines(const std::string& line, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += line + " " + std::to_string(i) + "\n";
  return text;
}

TEST(LastLines, AreAllOfAShortText) {
  EXPECT_EQ(last_lines(""), "");
  EXPECT_EQ(last_lines("no such device\nfoo\n\n"), "no such device\nfoo");
}

TEST(LastLines, OfALongTextAreWholeOnes) {
  const std::string last = last_lines(lines("a note", 200));
  EXPECT_THAT(last, StartsWith("a note "));
  EXPECT_THAT(last, EndsWith("a note 199"));
  EXPECT_LE(last.size(), 600U);
}

TEST(LastLines, BeginWithTheErrorBeforeALongDump) {
  const std::string last =
      last_lines(lines("a note", 5) + "LLVM ERROR: Cannot select: fp_extend\n  t7: i32 = AssertZext t6\n" +
                 lines("  t12: v4f32 = bitcast", 100) + "In function: main\n");
  EXPECT_THAT(last, StartsWith("LLVM ERROR: Cannot select: fp_extend\n...\n  t12: "));
  EXPECT_THAT(last, EndsWith("In function: main"));
  EXPECT_THAT(last, Not(HasSubstr("a note")));
}

TEST(LastLines, BeginWithTheLastOfSeveralErrors) {
  const std::string last = last_lines("error: first\nerror: second\n" + lines("dump", 200));
  EXPECT_THAT(last, StartsWith("error: second\n...\n"));
}

TEST(LastLines, NeedNoEarlierErrorWhereTheyNameOne) {
  const std::string last = last_lines("error: old\n" + lines("a note", 200) + "error: new");
  EXPECT_THAT(last, StartsWith("a note "));
  EXPECT_THAT(last, EndsWith("error: new"));
}

/// A dump of 12 KB after the error.
TEST(LastWords, OfAProcessBeginWithItsErrorHoweverLongTheDump) {
  WorkerProcess worker({"sh", "-c",
                        "echo 'error: the reason' >&2; i=0; while [ $i -lt 400 ]; do echo "
                        "'  a line of a dump, of 30 bytes' >&2; i=$((i+1)); done"});
  worker.start();
  std::optional<ChildEnd> end;
  for (int i = 0; i < 5000 && !end; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    end = worker.read([](std::string_view) {});
  }
  ASSERT_TRUE(end);
  EXPECT_THAT(worker.last_words(), StartsWith("error: the reason\n...\n"));
}

TEST(WorkerProcess, HasLargePagesUnlessOurEnvironmentSaysOtherwise) {
  WorkerProcess worker(shell_command("echo $GLIBC_TUNABLES"));
  worker.start();
  std::string seen;
  while (!worker.read([&](std::string_view line) { seen += line; }))
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const char* const ours = std::getenv("GLIBC_TUNABLES");
  EXPECT_EQ(seen, ours != nullptr ? ours : "glibc.malloc.hugetlb=1");
}

TEST(LastLines, CutALineThatIsLongerThanAMessage) {
  const std::string last = last_lines("fatal error: " + std::string(5000, 'x') + "\n" + lines("dump", 200));
  EXPECT_THAT(last, StartsWith("fatal error: xxx"));
  EXPECT_LE(last.size(), 1000U);
  EXPECT_EQ(last_lines(std::string(5000, 'x')).size(), 600U);
}

}  // namespace
}  // namespace assay
