#include "harness/report/compare/broken_groups.h"

#include "harness/report/compare/compare_text.h"
#include "tests/support/records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// A comparison of runs in which `count` rows break; one row stays right.
RunComparison broken(int count) {
  std::vector<Record> before = {test::passed("right")}, now = before;
  for (int i = 0; i < count; ++i) {
    before.push_back(test::passed("b" + std::to_string(i)));
    now.push_back(test::failed("b" + std::to_string(i)));
    now.back().accuracy->diagnosis = Diagnosis{"zero_point", "as if zero_point were 0", 1};
  }
  RunReport base = test::report_of(before), next = test::report_of(now);
  next.run.run_id = "20260103T030405Z-2b3c4d";
  return compare_runs(std::vector{base}, std::vector{next});
}

TEST(BrokenGroups, ReplaceManyRowsByThreeLines) {
  const RunComparison comparison = broken(168);
  const std::string text = compare_text(comparison, {});
  EXPECT_THAT(text,
              HasSubstr("\n  BROKEN  168 of 169 rows of shuffle: zero point\n"
                        "          such as shuffle/b0/1x16x4x8/4W4C.4W4C/fused\n"
                        "          as if zero_point were 0\n"
                        "      --all lists each row; `assay show NEW --group 'failure=FAIL zero point'` "
                        "those of the first kind\n"));
  EXPECT_THAT(text, Not(HasSubstr("shuffle/b1/")));
  EXPECT_THAT(text, HasSubstr("\n1 SAME, 168 BROKEN\n")) << "the totals count rows";
  EXPECT_THAT(compare_text(comparison, {.all = true}), HasSubstr("shuffle/b167/"));
}

TEST(BrokenGroups, AreInMarkdownToo) {
  const std::string text = compare_markdown(broken(168));
  EXPECT_THAT(text, HasSubstr("\n- BROKEN: 168 of 169 rows of shuffle: zero point, such as shuffle/b0/"));
  EXPECT_THAT(text, Not(HasSubstr("shuffle/b1/")));
  EXPECT_THAT(compare_markdown(broken(168), {.all = true}), HasSubstr("shuffle/b167/"));
}

TEST(BrokenGroups, LeaveAFewRowsAsTheyAre) {
  const RunComparison comparison = broken(3);
  EXPECT_TRUE(broken_groups(comparison).empty());
  EXPECT_THAT(compare_text(comparison, {}), HasSubstr("  BROKEN  shuffle/b2/"));
  EXPECT_EQ(broken_groups(broken(4)).size(), 1U);
}

TEST(BrokenGroups, HoldNoRowThatFailedBefore) {
  std::vector<Record> before, now;
  for (int i = 0; i < 8; ++i) {
    const std::string name = "r" + std::to_string(i);
    before.push_back(i < 4 ? test::passed(name) : test::failed(name));
    now.push_back(test::failed(name));
  }
  RunReport base = test::report_of(before), next = test::report_of(now);
  next.run.run_id = "20260103T030405Z-2b3c4d";
  const std::vector<FailureGroup> groups = broken_groups(compare_runs(std::vector{base}, std::vector{next}));
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].rows.size(), 4U);
}

}  // namespace
}  // namespace assay
