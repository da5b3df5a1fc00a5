#include "harness/report/journal/journal.h"
#include "tests/support/assay_binary.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

// Runs that are shared out, and their reports merged, on the best device.

namespace assay::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Six groups of two rows; of two groups a row is timed as well.
constexpr const char* six_groups = R"(op: q8ta_relu
cases:
  - name: small
    shape: {each: [[1, 4, 4, 4], [1, 8, 4, 4], [1, 4, 8, 4], [1, 4, 4, 8]]}
    qparams: {x: {scale: 0.007112, zero_point: -3}, y: {scale: 0.013, zero_point: 5}}
    forms: {each: [{x: buffer/4W4C, y: buffer/4W4C}, {x: buffer/4W4C, y: buffer/4C1W}]}
  - name: timed
    mode: both
    shape: {each: [[1, 8, 8, 8], [1, 12, 8, 8]]}
    qparams: {x: {scale: 0.007112, zero_point: -3}, y: {scale: 0.013, zero_point: 5}}
)";

struct Farm {
  Farm() { folder.write("cases/c.yaml", six_groups); }

  ProcessResult assay(std::vector<std::string> words,
                      std::vector<std::pair<std::string, std::string>> environment = {}) const {
    words.insert(words.begin(), fs::absolute(ASSAY_BINARY));
    return test::run(
        {.words = std::move(words), .environment = std::move(environment), .directory = folder.path()});
  }
  ProcessResult run(const std::string& out, std::vector<std::string> more = {},
                    const std::vector<std::pair<std::string, std::string>>& environment = {}) const {
    more.insert(more.begin(), {"run", "--ceilings", "none", "--budget", "0.02", "--out", out});
    return assay(more, environment);
  }
  RunReport report(const std::string& out) const {
    return read_journal(device_folder(folder.path() / out) / "journal.jsonl");
  }

  TemporaryFolder folder;
};

/// The values of a record that do not depend on the measured time.
std::string deterministic(const Record& record) {
  const AccuracyResult answer = record.accuracy.value_or(AccuracyResult{});
  return fmt::format("{} {} {} {} {} {} {} {} {} {}", record.info.id, record.info.mode, record.info.forms,
                     name_of(record.status), record.reason, answer.output_hash, answer.input_hash,
                     answer.err_over_bound, record.perf.has_value(), record.repro);
}
std::vector<std::string> deterministic(const RunReport& report) {
  std::vector<std::string> lines;
  std::ranges::transform(report.records, std::back_inserter(lines),
                         [](const Record& record) { return deterministic(record); });
  return lines;
}

TEST(ShardedRuns, MergedAreTheReportOfOneRun) {
  const Farm farm;
  ASSERT_EQ(farm.run("whole").exit_code, 0);
  for (const char* index : {"1", "2", "3"}) {
    const ProcessResult shard =
        farm.run(std::string("shard") + index, {"--shard", std::string(index) + "/3"});
    ASSERT_EQ(shard.exit_code, 0) << shard.err;
    EXPECT_THAT(shard.err, HasSubstr(std::string("shard ") + index + " of 3 (--shard)"));
  }
  const ProcessResult merged = farm.assay({"merge", "merged", "shard1", "shard2", "shard3"});
  ASSERT_EQ(merged.exit_code, 0) << merged.err;
  const RunReport whole = farm.report("whole");
  const RunReport report = farm.report("merged");
  ASSERT_EQ(whole.records.size(), 12U);
  EXPECT_EQ(deterministic(report), deterministic(whole));
  EXPECT_TRUE(report.complete);
  EXPECT_EQ(report.run.merged.size(), 3U);
  for (const char* file : {"accu.csv", "perf.csv", "history.csv", "perf.json", "junit.xml", "run.json"})
    EXPECT_TRUE(fs::exists(device_folder(farm.folder.path() / "merged") / file)) << file;
}

TEST(ShardedRuns, OfVariablesAreThoseOfTheOption) {
  const Farm farm;
  const std::string status = farm.folder / "status";
  const ProcessResult run = farm.run(
      "shard", {},
      {{"GTEST_TOTAL_SHARDS", "3"}, {"GTEST_SHARD_INDEX", "1"}, {"GTEST_SHARD_STATUS_FILE", status}});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(fs::exists(status));
  EXPECT_EQ(farm.report("shard").run.shard.index, 2);
  const ProcessResult option = farm.run("option", {"--shard", "2/3"}, {{"CI_NODE_TOTAL", "7"}});
  ASSERT_EQ(option.exit_code, 0) << option.err;
  EXPECT_EQ(deterministic(farm.report("option")), deterministic(farm.report("shard")));
  EXPECT_EQ(farm.run("none", {}, {{"CI_NODE_TOTAL", "7"}}).exit_code, 2);
}

TEST(ShardedRuns, AreListed) {
  const Farm farm;
  std::string all;
  for (const char* shard : {"1/2", "2/2"}) all += farm.assay({"list", "--shard", shard}).out;
  const auto lines_of = [](const std::string& text) {
    std::istringstream stream(text);
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    std::ranges::sort(lines);
    return lines;
  };
  EXPECT_EQ(lines_of(all), lines_of(farm.assay({"list"}).out));
}

TEST(ShardedRuns, ThatAreEmptyAreFine) {
  const Farm farm;
  const ProcessResult run = farm.run("empty", {"--shard", "7/7"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("this shard has nothing to run"));
  EXPECT_FALSE(fs::exists(farm.folder.path() / "empty"));
}

TEST(ShardedRuns, ThatAreNotThereLeaveRowsMissingWhichAResumedRunMakesUpFor) {
  const Farm farm;
  ASSERT_EQ(farm.run("whole").exit_code, 0);
  ASSERT_EQ(farm.run("shard1", {"--shard", "1/2"}).exit_code, 0);
  const ProcessResult merged = farm.assay({"merge", "merged", "shard1", "shard2"});
  EXPECT_EQ(merged.exit_code, 3);
  EXPECT_THAT(merged.err, HasSubstr("a shard is missing"));
  const RunReport report = farm.report("merged");
  ASSERT_EQ(report.records.size(), 12U);
  const auto missing = std::ranges::count(report.records, Status::Missing, &Record::status);
  EXPECT_GT(missing, 0);
  EXPECT_LT(missing, 12);
  const ProcessResult resumed = farm.assay({"run", "--resume", "merged"});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(deterministic(farm.report("merged")), deterministic(farm.report("whole")));
}

TEST(ShardedRuns, ThatAreNotThereCannotBeNamedWhenTheCasesHaveChanged) {
  const Farm farm;
  ASSERT_EQ(farm.run("shard1", {"--shard", "1/2"}).exit_code, 0);
  std::ofstream(farm.folder.path() / "cases/c.yaml", std::ios::app) << "# changed\n";
  const ProcessResult merged = farm.assay({"merge", "merged", "shard1"});
  EXPECT_EQ(merged.exit_code, 3);
  EXPECT_THAT(merged.err, HasSubstr("the case files have changed"));
  EXPECT_FALSE(fs::exists(farm.folder.path() / "merged"));
}

TEST(ShardedRuns, OfAPreviousReportAreEquallyLong) {
  const Farm farm;
  ASSERT_EQ(farm.run("whole").exit_code, 0);
  for (const char* index : {"1", "2"}) {
    const ProcessResult shard =
        farm.run(std::string("shard") + index, {"--shard", std::string(index) + "/2", "--balance", "whole"});
    ASSERT_EQ(shard.exit_code, 0) << shard.err;
    // One of the two groups of which a row is timed: these take longest by far.
    const RunReport report = farm.report(std::string("shard") + index);
    EXPECT_EQ(
        std::ranges::count(report.records, "perf", [](const Record& record) { return record.info.mode; }), 1);
  }
  ASSERT_EQ(farm.assay({"merge", "merged", "shard1", "shard2"}).exit_code, 0);
  EXPECT_EQ(farm.assay({"merge", "merged", "shard1", "shard2"}).exit_code, 2) << "there is a report already";
  EXPECT_EQ(farm.assay({"merge", "--overwrite", "merged", "shard1", "shard2"}).exit_code, 0);
}

TEST(ShardedRuns, AreGoneOnWithAsTheyWere) {
  const Farm farm;
  ASSERT_EQ(farm.run("shard", {"--shard", "1/2"}).exit_code, 0);
  ASSERT_EQ(farm.run("other", {"--shard", "1/2"}).exit_code, 0);
  const fs::path journal = device_folder(farm.folder.path() / "shard") / "journal.jsonl";
  fs::resize_file(journal, fs::file_size(journal) * 2 / 3);  // as a kill leaves it
  const ProcessResult resumed = farm.assay({"run", "--resume", "shard"}, {{"GTEST_TOTAL_SHARDS", "9"}});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(deterministic(farm.report("shard")), deterministic(farm.report("other")));
}

TEST(ShardedRuns, AreGoneOnWithWithoutTheReportThatBalancedThem) {
  const Farm farm;
  ASSERT_EQ(farm.run("whole").exit_code, 0);
  ASSERT_EQ(farm.run("shard", {"--shard", "1/2", "--balance", "whole"}).exit_code, 0);
  const std::vector<std::string> before = deterministic(farm.report("shard"));
  const fs::path journal = device_folder(farm.folder.path() / "shard") / "journal.jsonl";
  fs::resize_file(journal,
                  read_file(journal).rfind(R"({"event":"end")"));  // killed before its last row ended
  fs::remove_all(farm.folder.path() / "whole");                    // pruned meanwhile
  const ProcessResult resumed = farm.assay({"run", "--resume", "shard"});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(deterministic(farm.report("shard")), before);
}

TEST(ShardedRuns, OfOtherOptionsAreNotMerged) {
  const Farm farm;
  ASSERT_EQ(farm.run("shard1", {"--shard", "1/2"}).exit_code, 0);
  const ProcessResult other =
      farm.assay({"run", "--ceilings", "none", "--budget", "0.04", "--out", "shard2", "--shard", "2/2"});
  ASSERT_EQ(other.exit_code, 0) << other.err;
  const ProcessResult merged = farm.assay({"merge", "merged", "shard1", "shard2"});
  EXPECT_EQ(merged.exit_code, 2);
  EXPECT_THAT(merged.err, HasSubstr("are not parts of one run: their --budget is 0.02 and 0.04"));
  EXPECT_FALSE(fs::exists(farm.folder.path() / "merged"));
}

TEST(ShardedRuns, NoneOfWhichIsThereAreNoReport) {
  const Farm farm;
  const ProcessResult merged = farm.assay({"merge", "merged", "shard1", "shard2"});
  EXPECT_EQ(merged.exit_code, 3);
  EXPECT_THAT(merged.err, HasSubstr("none of the 2 folders holds a report with rows"));
  EXPECT_THAT(merged.out, IsEmpty());
}

TEST(ShardedRuns, ListTakesThemFromTheEnvironmentAsRunDoes) {
  const Farm farm;
  const std::vector<std::pair<std::string, std::string>> second{{"GTEST_TOTAL_SHARDS", "3"},
                                                                {"GTEST_SHARD_INDEX", "1"}};
  const std::string all = farm.assay({"list", "cases"}).out;
  const std::string wanted = farm.assay({"list", "cases", "--shard", "2/3"}).out;
  ASSERT_NE(wanted, all);
  const ProcessResult result = farm.assay({"list", "cases"}, second);
  EXPECT_EQ(result.out, wanted);
  EXPECT_EQ(result.err, "shard 2 of 3 (GTEST_SHARD_INDEX of GTEST_TOTAL_SHARDS)\n");
  EXPECT_EQ(farm.assay({"list", "cases"}, {{"GTEST_SHARD_INDEX", "7"}}).exit_code, 2);
}

}  // namespace
}  // namespace assay::test
