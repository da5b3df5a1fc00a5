#include "harness/commands/mutate/merged_faults.h"

#include "harness/commands/mutate/fault_test_support.h"
#include "tests/support/error_text.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

namespace assay::app {
namespace {

namespace fs = std::filesystem;
using test::error_of;
using ::testing::HasSubstr;

class MergedFaults : public ::testing::Test {
 protected:
  /// The folder of a shard with a result for this fault.
  fs::path shard(
      const std::string& name, const std::string& number, const std::string& fault,
      const std::function<void(FaultRun&)>& change = [](FaultRun&) {}) const {
    FaultRun run{.choice = {.shaders = {"copy.comp"}, .cases = {"c.yaml"}, .seed = 9, .shard = number},
                 .version = "0.1.0",
                 .device = "llvmpipe",
                 .driver = "Mesa",
                 .rows = "r",
                 .sources = "s"};
    change(run);
    fs::create_directories(folder / name);
    FaultJournal(fault_journal_in(folder / name), {.run = run, .results = {}})
        .add(fault_record(fault, FaultEnd::Survived).result);
    return folder / name;
  }

  FaultJournalContent merged(const std::vector<fs::path>& shards) {
    log.str({});
    return merged_faults(shards, log);
  }

  std::string error_with(const std::function<void(FaultRun&)>& change) {
    return error_of([&] { merged({shard("a", "1/2", "f1"), shard("b", "2/2", "f2", change)}); });
  }

  test::TemporaryFolder folder;
  std::ostringstream log;
};

TEST_F(MergedFaults, AreTheResultsOfAllShardsAsOfAWholeRun) {
  const FaultJournalContent content = merged({shard("b", "2/2", "f2"), shard("a", "1/2", "f1")});
  EXPECT_EQ(content.run.choice.shard, "");
  EXPECT_EQ(content.run.choice.seed, 9U);
  EXPECT_EQ(content.run.sources, "s");
  ASSERT_EQ(content.results.size(), 2U);
  EXPECT_EQ(content.results[0].id, "f2");
  EXPECT_EQ(content.results[1].id, "f1");
  EXPECT_EQ(log.str(), "");
}

TEST_F(MergedFaults, NameAShardThatIsMissing) {
  EXPECT_EQ(merged({shard("a", "1/3", "f1"), shard("b", "3/3", "f2")}).results.size(), 2U);
  EXPECT_EQ(log.str(), "shard 2/3 is missing: its faults, if it has any, were not run\n");
}

TEST_F(MergedFaults, AreRefusedIfTheyAreOfDifferentRuns) {
  EXPECT_THAT(error_with([](FaultRun& run) { run.choice.seed = 8; }),
              HasSubstr("b: it is no part of the first one's run: --seed is '8', and '9' there"));
  EXPECT_THAT(error_with([](FaultRun& run) { run.sources = "t"; }), HasSubstr("the hash of the shaders"));
  EXPECT_THAT(error_with([](FaultRun& run) { run.rows = "t"; }), HasSubstr("the hash of the rows"));
  EXPECT_THAT(error_with([](FaultRun& run) { run.device = "t"; }), HasSubstr("the device is 't'"));
  EXPECT_THAT(error_with([](FaultRun& run) { run.driver = "t"; }), HasSubstr("the driver"));
  EXPECT_THAT(error_with([](FaultRun& run) { run.version = "t"; }), HasSubstr("the binary"));
  EXPECT_THAT(error_with([](FaultRun& run) { run.choice.per_file = 3; }), HasSubstr("--limit"));
  EXPECT_THAT(error_with([](FaultRun& run) { run.choice.since = "abc"; }), HasSubstr("--since"));
  EXPECT_THAT(error_with([](FaultRun& run) { run.choice.rows = 3; }), HasSubstr("--rows"));
  EXPECT_THAT(error_with([](FaultRun& run) { run.choice.cases = {"d.yaml"}; }), HasSubstr("--cases"));
  EXPECT_THAT(error_with([](FaultRun& run) {
                run.choice.shaders = {"a", "b"};
              }),
              HasSubstr("the shaders on the command line is 'a b'"));
  EXPECT_THAT(error_with([](FaultRun& run) { run.choice.folder = "f"; }), HasSubstr("--shaders is 'f'"));
  EXPECT_THAT(error_with([](FaultRun& run) { run.choice.op_folder = "f"; }), HasSubstr("--ops"));
}

TEST_F(MergedFaults, AreRefusedIfTheyAreNotTheShardsOfOneNumber) {
  const auto refused = [&](const std::string& number) {
    return error_of([&] { merged({shard("a", "1/2", "f1"), shard("b", number, "f2")}); });
  };
  EXPECT_THAT(refused("1/2"), HasSubstr("a has shard 1/2 too"));
  EXPECT_THAT(refused("2/3"), HasSubstr("b: it is one of 3 shards, the first one of 2"));
  EXPECT_THAT(refused(""), HasSubstr("b: its run is a whole one, as it had no --shard"));
  EXPECT_THAT(refused("x"), HasSubstr("is not a shard"));
  EXPECT_THAT(error_of([&] { merged({folder / "none"}); }), HasSubstr("there is no "));
}

}  // namespace
}  // namespace assay::app
