#include "harness/commands/mutate/fault_journal.h"

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

}  // namespace
}  // namespace assay::app
