#include "harness/commands/mutate/kill_matrix.h"

#include "harness/commands/mutate/fault_score.h"
#include "harness/commands/mutate/fault_test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::app {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::vector<FaultRecord> one_of_each() {
  return {fault_record("f1", FaultEnd::Killed, {kill_by("copy/a"), kill_by("copy/b")}),
          fault_record("f2", FaultEnd::Killed, {kill_by("copy/a")}),
          fault_record("f3", FaultEnd::Survived),
          fault_record("f4", FaultEnd::Equivalent),
          fault_record("f5", FaultEnd::Unchanged),
          fault_record("f6", FaultEnd::DoesNotCompile),
          fault_record("f7", FaultEnd::NotRun)};
}

TEST(FaultScore, CountsFaultsThatRowsCouldShow) {
  const FaultScore score = score_of(one_of_each());
  EXPECT_EQ(score.all(), 7U);
  EXPECT_EQ(score.fragile, 1U);
  EXPECT_NEAR(score.percent().value(), 66.67, 0.01);
  EXPECT_EQ(score_text(score), "66.7 % (2 of 3)");
}

TEST(FaultScore, IsNoneWithoutFaultsThatCount) {
  const std::vector<FaultRecord> none{fault_record("f1", FaultEnd::Unchanged)};
  EXPECT_EQ(score_text(score_of(none)), "-");
}

TEST(FaultScore, DoesNotCallAFaultFragileWhileRowsAreLeft) {
  FaultRecord record = fault_record("f1", FaultEnd::Killed, {kill_by("copy/a")});
  record.result.rows_left = 1;
  EXPECT_FALSE(record.result.is_fragile());
  EXPECT_TRUE(record.result.is_open());
}

TEST(FaultScore, DoesNotCallAFaultFragileThatEndsItsProcess) {
  const FaultRecord record =
      fault_record("f1", FaultEnd::Killed, {{.row = "copy/a", .how = "TIMEOUT", .word = ""}});
  EXPECT_FALSE(record.result.is_fragile());
  EXPECT_FALSE(record.result.is_open());
}

TEST(KillMatrix, HasARowForEachFault) {
  const std::string csv = kill_matrix_csv(one_of_each());
  EXPECT_EQ(std::ranges::count(csv, '\n'), 8);
  EXPECT_THAT(
      csv, HasSubstr("f1,a.comp,7,3,bound_off_by_one,<,<=,killed,2,copy/a; copy/b,wrong_value; wrong_value,"
                     "shifted; shifted,5,0,"));
  EXPECT_THAT(csv, HasSubstr("f6,a.comp,7,3,bound_off_by_one,<,<=,does not compile,0,"));
}

TEST(KillMatrix, QuotesChangesWithCommas) {
  FaultRecord record = fault_record("f1", FaultEnd::Survived);
  record.fault.after = "f(a, \"b\")";
  EXPECT_THAT(kill_matrix_csv(std::vector{record}), HasSubstr("\"f(a, \"\"b\"\")\""));
}

TEST(FaultsMarkdown, ListsScoresSurvivorsAndFragileFaults) {
  FaultRun run{.device = "llvmpipe"};
  const std::string text = faults_markdown(run, one_of_each());
  EXPECT_THAT(text, HasSubstr("Score: 66.7 % (2 of 3), on llvmpipe"));
  EXPECT_THAT(text, HasSubstr("| a.comp | 66.7 % (2 of 3) | 2 | 1 | 1 | 1 | 1 | 1 | 1 |"));
  EXPECT_THAT(text, HasSubstr("| a.comp:7:3 | bound_off_by_one | `<` | `<=` | 5 ran, 0 left | `f3` |"));
  EXPECT_THAT(text, HasSubstr("| a.comp:7:3 | bound_off_by_one | `<` | `<=` | copy/a | `f2` |"));
  EXPECT_THAT(text, Not(HasSubstr("`f1`")));
}

TEST(FaultsMarkdown, KeepsTablesWholeWhereAChangeHasABar) {
  FaultRecord record = fault_record("f1", FaultEnd::Survived);
  record.fault.before = "a || b";
  EXPECT_THAT(faults_markdown({}, std::vector{record}), HasSubstr("`a \\|\\| b`"));
}

}  // namespace
}  // namespace assay::app
