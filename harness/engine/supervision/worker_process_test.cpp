#include "harness/engine/supervision/worker_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

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
  const std::string last = last_lines(lines("a note", 5) + "LLVM ERROR: Cannot select: fp_extend\n" +
                                      lines("  t12: v4f32 = bitcast", 100) + "In function: main\n");
  EXPECT_THAT(last, StartsWith("LLVM ERROR: Cannot select: fp_extend\n...\n  t12: "));
  EXPECT_THAT(last, EndsWith("In function: main"));
  EXPECT_THAT(last, Not(HasSubstr("a note")));
}

TEST(LastLines, BeginWithTheLastOfSeveralErrors) {
  const std::string last = last_lines("error: first\nerror: second\n" + lines("dump", 200));
  EXPECT_THAT(last, StartsWith("error: second\n...\n"));
}

TEST(LastLines, CutALineThatIsLongerThanAMessage) {
  const std::string last = last_lines("fatal error: " + std::string(5000, 'x') + "\n" + lines("dump", 200));
  EXPECT_THAT(last, StartsWith("fatal error: xxx"));
  EXPECT_LE(last.size(), 1000U);
  EXPECT_EQ(last_lines(std::string(5000, 'x')).size(), 600U);
}

}  // namespace
}  // namespace assay
