#include "harness/report/journal/quick_line.h"

#include "harness/report/journal/codec.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace assay {
namespace {

struct LastLine final : EventLines {
  std::string text;
  void line(std::string_view line) override { text = line; }
};

const Block block{
    .round = 3, .batch = 7, .samples_ns = {2455242, 1e18, 0.1, 5e-324, 12345.678}, .probe_ns = 2.5};

// If a line of these gets a member that every run writes, quick_line() should know it.
TEST(QuickLine, ReadsWhatARunWrites) {
  LastLine written;
  written.begin(41);
  const auto begin = quick_line(written.text);
  ASSERT_TRUE(begin.has_value()) << written.text;
  EXPECT_EQ(begin->row, 41U);
  EXPECT_FALSE(begin->block.has_value());
  written.block(5, block);
  const auto read = quick_line(written.text);
  ASSERT_TRUE(read.has_value() && read->block.has_value()) << written.text;
  EXPECT_EQ(read->row, 5U);
  EXPECT_EQ(read->block->round, 3);
  EXPECT_EQ(read->block->batch, 7);
  EXPECT_EQ(read->block->samples_ns, block.samples_ns);
  EXPECT_EQ(read->block->probe_ns, 2.5);
}

TEST(QuickLine, LeavesAllElseToJson) {
  LastLine written;
  Block wrong = block;
  wrong.wrong = true;
  written.block(5, wrong);
  const std::string head = R"({"event":"block","row":0,"round":0,"batch":1,"samples_ns":[)";
  std::vector<std::string> lines = {written.text,
                                    R"({"event":"done"})",
                                    R"({"event":"begin","row":1,"row":2})",
                                    R"({"event":"begin","row":-1})",
                                    R"({"event":"begin","row":1.5})",
                                    R"({"event":"begin","row":01})",
                                    R"({"event":"begin","row":99999999999999999999})",
                                    R"({"event":"begin","row":1}})",
                                    R"({"event":"begin","row":1)",
                                    R"({ "event":"begin","row":1})",
                                    R"({"event":"begin","row":})",
                                    head + "]}"};
  for (const char* number : {"",    "+1",  ".5",      "5.",    "1.e5",   "01", "-",  "1e",   "1e+", "0x1",
                             "inf", "nan", "\"nan\"", "1e999", "1e-999", " 1", "1 ", "null", "1,",  "[1]"})
    lines.push_back(head + number + "]}");
  for (const std::string& line : lines) EXPECT_FALSE(quick_line(line).has_value()) << line;
}

}  // namespace
}  // namespace assay
