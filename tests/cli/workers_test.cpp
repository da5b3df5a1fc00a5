#include "harness/report/journal/journal.h"
#include "tests/cli/farm_test_support.h"
#include "tests/support/assay_binary.h"
#include "tests/support/temporary_folder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <vector>

namespace assay::test {

// Runs whose accuracy rows several workers of one device run side by side.

namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// Eight groups of rows, each with a row of mode accu and a timed one.
constexpr const char* side_by_side_cases = R"(op: q8ta_relu
cases:
  - name: small
    mode: both
    shape: {each: [[1, 4, 4, 4], [1, 8, 4, 4], [1, 4, 8, 4], [1, 4, 4, 8]]}
    qparams:
      x: {scale: 0.007112, zero_point: -3}
      y: {scale: 0.013, zero_point: {each: [5, 6]}}
)";

std::size_t times_in(const std::string& text, const std::string& words) {
  std::size_t times = 0;
  for (auto at = text.find(words); at != text.npos; at = text.find(words, at + 1)) ++times;
  return times;
}

/// A folder of runs with a mock worker of a CPU device, which needs none.
struct WorkersDesk {
  WorkersDesk() { file = folder.write("c.yaml", side_by_side_cases); }

  std::string mock(const std::string& arguments) const {
    return (fs::absolute(ASSAY_SOURCE_DIR) / "tests/farm/mock_worker.py").string() + " --state " +
           (folder / "state").string() + " " + arguments;
  }
  std::vector<std::string> run_words(std::vector<std::string> more) const {
    more.insert(more.begin(), {"run", file, "--out", folder / "out", "--ceilings", "none"});
    return more;
  }
  ProcessResult run_mock(const std::string& arguments, std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"--worker-command", mock(arguments)});
    return assay(run_words(more));
  }
  ProcessResult resume(const std::string& arguments) const {
    return assay({"run", "--resume", folder / "out", "--worker-command", mock(arguments)});
  }
  fs::path journal() const {
    const fs::path device = fs::exists(folder / "out") ? device_folder(folder / "out") : fs::path();
    return device.empty() ? device : device / "journal.jsonl";
  }
  std::string journal_text() const {
    return journal().empty() || !fs::exists(journal()) ? "" : read_file(journal());
  }
  RunReport report() const { return read_journal(journal()); }

  TemporaryFolder folder;
  std::string file;
};

/// A run that goes on beside the test, with two workers that each hang in a row.
class HangingPair {
 public:
  explicit HangingPair(const WorkersDesk& desk) : desk_(desk) {
    std::vector<std::string> words =
        desk.run_words({"--workers", "2", "--worker-command",
                        desk.mock("--rows 12 --perf 2 --fault hang@0 --fault hang@6")});
    words.insert(words.begin(), ASSAY_BINARY);
    pid_ = start({.words = words});
  }
  ~HangingPair() { end_with(SIGKILL); }
  HangingPair(const HangingPair&) = delete;
  HangingPair& operator=(const HangingPair&) = delete;

  /// Until a worker hangs in row 0, and the other one, which has run the rows behind it, in row 6.
  bool wait_until_both_hang() const {
    for (int i = 0; i < 2500; ++i) {  // 50 s: a hang, not a busy machine
      if (times_in(desk_.journal_text(), R"("event":"begin","row":6)") > 0) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return false;
  }
  void end_with(int signal) {
    if (pid_ <= 0) return;
    ::kill(pid_, signal);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  const WorkersDesk& desk_;
  int pid_ = 0;
};

TEST(SideBySide, AKillIsToldOfBothRowsThatRanAndGoingOnLosesNone) {
  const WorkersDesk desk;
  HangingPair run(desk);
  ASSERT_TRUE(run.wait_until_both_hang()) << desk.journal_text();
  run.end_with(SIGKILL);
  const RunReport killed = desk.report();
  EXPECT_EQ(killed.records.at(0).status, Status::Crash);
  EXPECT_EQ(killed.records.at(6).status, Status::Crash);
  EXPECT_EQ(count_of(killed, Status::Crash), 2U);
  EXPECT_EQ(count_of(killed, Status::Pass), 5U) << "rows 1 to 5";

  const ProcessResult rest = desk.resume("--rows 12 --perf 2");
  EXPECT_EQ(rest.exit_code, 0) << rest.out << rest.err;
  EXPECT_TRUE(desk.report().complete);
  EXPECT_EQ(count_of(desk.report(), Status::Pass), 12U);
  const std::string text = desk.journal_text();
  EXPECT_EQ(times_in(text, R"("event":"plan")"), 1U);
  EXPECT_EQ(times_in(text, R"("status":"INTERRUPTED")"), 2U);
  EXPECT_EQ(times_in(text, R"("event":"begin","row":5)"), 1U) << "it had ended";
}

TEST(SideBySide, ARowThatKillsTheRunAgainAndAgainIsFoundAmongThoseThatRanBesideIt) {
  const WorkersDesk desk;
  for (int kill = 0; kill < 3; ++kill) {
    // Row 6 kills the run as soon as it runs; row 0 ran beside it the first time.
    const std::string faults =
        "--rows 12 --perf 2 --fault hang@6" + std::string(kill == 0 ? " --fault hang@0" : "");
    std::vector<std::string> words =
        kill == 0 ? desk.run_words({"--workers", "2", "--worker-command", desk.mock(faults)})
                  : std::vector<std::string>{"run", "--resume", desk.folder / "out", "--worker-command",
                                             desk.mock(faults)};
    words.insert(words.begin(), ASSAY_BINARY);
    const int pid = start({.words = words});
    const std::size_t wanted = static_cast<std::size_t>(kill) + 1;
    for (int i = 0; i < 2500 && times_in(desk.journal_text(), R"("event":"begin","row":6)") < wanted; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
  const ProcessResult rest = desk.resume("--rows 12 --perf 2 --fault hang@6");
  EXPECT_EQ(rest.exit_code, 1) << rest.out << rest.err;
  const RunReport report = desk.report();
  EXPECT_TRUE(report.complete);
  EXPECT_EQ(report.records.at(6).status, Status::Crash);
  EXPECT_THAT(report.records.at(6).reason, HasSubstr("may be what takes the machine down"));
  EXPECT_EQ(count_of(report, Status::Pass), 11U);
}

TEST(SideBySide, TimedRowsBeginWhenAllOthersHaveEnded) {
  const WorkersDesk desk;
  ASSERT_EQ(desk.run_mock("--rows 30 --perf 6", {"--workers", "3"}).exit_code, 0);
  EXPECT_EQ(count_of(desk.report(), Status::Pass), 30U);
  std::istringstream lines(desk.journal_text());
  std::size_t ended = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(R"({"event":"end",)")) ++ended;
    if (line == R"({"event":"begin","row":24})") break;
  }
  EXPECT_EQ(ended, 24U);
}

TEST(SideBySide, AWorkerThatCrashesCostsItsRowAndNoOther) {
  const WorkersDesk desk;
  const ProcessResult result =
      desk.run_mock("--rows 20 --perf 4 --fault segfault@3 --fault segfault@18", {"--workers", "2"});
  EXPECT_EQ(result.exit_code, 1) << result.err;
  const RunReport report = desk.report();
  EXPECT_TRUE(report.complete);
  for (const std::size_t row : {3U, 18U}) {
    EXPECT_EQ(report.records.at(row).status, Status::Crash);
    EXPECT_EQ(report.records.at(row).retry, "REPRODUCED");
  }
  EXPECT_EQ(count_of(report, Status::Pass), 18U);
}

TEST(SideBySide, EnoughFailuresStopAllWorkers) {
  const WorkersDesk desk;
  std::string faults = "--rows 40";
  for (int row = 0; row < 40; ++row) faults += " --fault fail@" + std::to_string(row);
  const ProcessResult result = desk.run_mock(faults, {"--workers", "2", "--max-failures", "3"});
  EXPECT_EQ(result.exit_code, 1) << result.err;
  const RunReport report = desk.report();
  EXPECT_FALSE(report.complete);
  EXPECT_GE(count_of(report, Status::Fail), 3U);
  EXPECT_EQ(count_of(report, Status::Fail) + count_of(report, Status::Missing), 40U);
  EXPECT_EQ(desk.resume("--rows 40").exit_code, 1);
  EXPECT_TRUE(desk.report().complete);
  EXPECT_EQ(count_of(desk.report(), Status::Missing), 0U);
}

/// The results that must not depend on the worker of a row: "PASS 0123abcd" by id and mode.
std::map<std::string, std::string> verdicts(const RunReport& report) {
  std::map<std::string, std::string> rows;
  for (const Record& record : report.records) {
    const std::string hash = record.accuracy ? record.accuracy->output_hash : "";
    rows[record.info.id + " " + record.info.mode] = std::string(name_of(record.status)) + " " + hash;
  }
  return rows;
}

/// Where the best device is a GPU, both have one worker.
TEST(SideBySide, GivesTheReportThatOneWorkerGives) {
  std::map<std::string, std::string> reports[2];
  for (const int workers : {1, 2}) {
    const WorkersDesk desk;
    const ProcessResult result =
        assay(desk.run_words({"--budget", "0.01", "--workers", std::to_string(workers)}));
    EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
    const RunReport report = desk.report();
    EXPECT_TRUE(report.complete);
    EXPECT_EQ(count_of(report, Status::Pass), report.records.size()) << result.out;
    reports[workers - 1] = verdicts(report);
  }
  EXPECT_GE(reports[0].size(), 16U);
  EXPECT_EQ(reports[0], reports[1]);
}

TEST(SideBySide, IsRefusedWhereNoWorkerRuns) {
  const WorkersDesk desk;
  for (const char* other : {"--no-isolation", "--watch"}) {
    const ProcessResult result = assay(desk.run_words({"--workers", "2", other}));
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.err, AllOf(HasSubstr("--workers"), HasSubstr(other)));
  }
}

// Runs that are shared out, and their reports merged, on the best device.

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
