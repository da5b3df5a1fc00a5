#include "harness/commands/mutate/fault_reports.h"

#include "harness/commands/mutate/fault_result.h"
#include "harness/commands/mutate/fault_test_support.h"
#include "tests/support/error_text.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace assay::app {
namespace {

using test::error_of;
using test::TemporaryFolder;
using ::testing::HasSubstr;
using ::testing::Not;

FaultRun some_run() {
  return {.choice = {.shaders = {"copy.comp"},
                     .cases = {"cases/copy.yaml"},
                     .folder = "shaders",
                     .seed = 9,
                     .per_file = 4,
                     .since = "abc",
                     .shard = "1/2",
                     .rows = 77},
          .version = "0.1.0",
          .device = "llvmpipe",
          .driver = "Mesa",
          .rows = "r",
          .sources = "s"};
}

FaultResult some_result(const std::string& id) {
  FaultResult result = fault_record(id, FaultEnd::Killed, {kill_by("copy/small")}).result;
  result.rows_left = 3;
  result.cpu_s = 0.5;
  return result;
}

TEST(FaultJournal, HoldsTheRunAndItsResults) {
  const TemporaryFolder folder;
  const auto file = fault_journal_in(folder / "");
  FaultJournal(file, {.run = some_run(), .results = {some_result("f1")}}).add(some_result("f2"));
  const FaultJournalContent content = read_fault_journal(file);
  EXPECT_EQ(content.run.choice.shaders, some_run().choice.shaders);
  EXPECT_EQ(content.run.choice.cases, some_run().choice.cases);
  EXPECT_EQ(content.run.choice.folder, "shaders");
  EXPECT_EQ(content.run.choice.seed, 9U);
  EXPECT_EQ(content.run.choice.per_file, 4U);
  EXPECT_EQ(content.run.choice.since, "abc");
  EXPECT_EQ(content.run.choice.shard, "1/2");
  EXPECT_EQ(content.run.choice.rows, 77U);
  ASSERT_EQ(content.results.size(), 2U);
  EXPECT_EQ(content.results[1].id, "f2");
  EXPECT_EQ(content.results[1].end, FaultEnd::Killed);
  ASSERT_EQ(content.results[1].kills.size(), 1U);
  EXPECT_EQ(content.results[1].kills[0].row, "copy/small");
  EXPECT_EQ(content.results[1].kills[0].word, "shifted");
  EXPECT_EQ(content.results[1].rows_ran, 5U);
  EXPECT_EQ(content.results[1].rows_left, 3U);
  EXPECT_DOUBLE_EQ(content.results[1].cpu_s, 0.5);
}

TEST(FaultJournal, LosesOnlyALineThatWasBeingWritten) {
  const TemporaryFolder folder;
  const auto file = fault_journal_in(folder / "");
  FaultJournal(file, {.run = some_run(), .results = {}}).add(some_result("f1"));
  std::ofstream(file, std::ios::app) << "{\"id\": \"f2\", \"en";
  EXPECT_EQ(read_fault_journal(file).results.size(), 1U);
}

TEST(FaultJournal, ThatIsDamagedIsAnError) {
  const TemporaryFolder folder;
  folder.write("faults.jsonl", "{}\n");
  EXPECT_THAT(error_of([&] { read_fault_journal(folder / "faults.jsonl"); }), HasSubstr("is damaged"));
  folder.write("faults.jsonl", "");
  EXPECT_THAT(error_of([&] { read_fault_journal(folder / "faults.jsonl"); }), HasSubstr("no first line"));
  EXPECT_THAT(error_of([&] { read_fault_journal(folder / "none"); }), HasSubstr("there is no"));
}

TEST(FaultJournal, IsNotResumedForOtherShadersRowsOrDevices) {
  EXPECT_NO_THROW(check_same_run(some_run(), some_run()));
  FaultRun other = some_run();
  other.sources = "t";
  EXPECT_THAT(error_of([&] { check_same_run(some_run(), other); }), HasSubstr("the shaders changed"));
  other = some_run();
  other.version = "t";
  EXPECT_THAT(error_of([&] { check_same_run(some_run(), other); }), HasSubstr("the binary changed"));
  other = some_run();
  other.rows = "t";
  EXPECT_THAT(error_of([&] { check_same_run(some_run(), other); }), HasSubstr("the cases"));
  other = some_run();
  other.device = "t";
  EXPECT_THAT(error_of([&] { check_same_run(some_run(), other); }), HasSubstr("the device"));
}

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
