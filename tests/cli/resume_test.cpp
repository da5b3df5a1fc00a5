#include "harness/report/journal/journal.h"
#include "harness/report/journal/journal_text.h"
#include "harness/report/record/events.h"
#include "harness/report/record/record.h"
#include "harness/tensor/npy/npy.h"
#include "tests/cli/farm_test_support.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

// Resuming runs that were killed, cut off or given up.

namespace assay::test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Resume, RunsWhatIsLeftWhereverTheJournalWasCut) {
  const MockFarm farm;
  ASSERT_EQ(farm.run_mock("--rows 5 --perf 2").exit_code, 0);
  const fs::path journal = farm.journal();
  const std::string whole = read_file(journal);
  const std::size_t plan_end = whole.find('\n', whole.find(R"("event":"plan")")) + 1;
  // Every byte of the last record, some of those before it, and the start of each line.
  std::vector<std::size_t> cuts;
  for (std::size_t cut = whole.rfind('{'); cut < whole.size(); ++cut) cuts.push_back(cut);
  for (std::size_t cut = whole.size() - 300; cut < whole.size(); cut += 7) cuts.push_back(cut);
  for (std::size_t cut = plan_end; cut < whole.size(); cut = whole.find('\n', cut) + 1) cuts.push_back(cut);
  for (const std::size_t cut : cuts) {
    std::ofstream(journal, std::ios::trunc) << whole.substr(0, cut);
    const ProcessResult result =
        assay({"run", "--resume", farm.folder / "out", "--worker-command", farm.mock("--rows 5 --perf 2")});
    EXPECT_EQ(result.exit_code, 0) << cut << result.err;
    const RunReport report = read_journal(journal);
    EXPECT_TRUE(report.complete);
    EXPECT_EQ(count_of(report, Status::Pass), 5U) << cut;
    EXPECT_EQ(report.records[4].perf.value().blocks, 7) << cut;
  }
}

TEST(Resume, RunsNoFinishedRowAgainButOneThatWasToBeTriedOnceMore) {
  const MockFarm farm;
  ASSERT_EQ(farm.run_mock("--rows 20 --fault kill@5 --fault kill@6 --fault kill@7").exit_code, 3);
  const ProcessResult result = assay(
      {"run", "--resume", farm.folder / "out", "--worker-command", farm.mock("--rows 20 --fault kill@2")});
  EXPECT_EQ(result.exit_code, 1) << "row 2 had ended, and does not crash again; 5 and 6 stay what they were";
  const RunReport report = farm.report();
  EXPECT_EQ(count_of(report, Status::Pass), 17U);
  EXPECT_EQ(count_of(report, Status::Crash), 2U);
  EXPECT_EQ(farm.row(7).status, Status::Flaky) << "the device was given up before its second try";
  EXPECT_TRUE(report.complete);
}

TEST(Resume, GoesOnWhenTheDiskIsNoLongerFull) {
  // `ulimit -f` counts blocks of 512 bytes: the journal's plan fits, its rows do not.
  const MockFarm farm;
  const std::string run = std::string(ASSAY_BINARY) + " run " + farm.file + " --out " +
                          (farm.folder / "out").string() + " --worker-command '" +
                          farm.mock("--rows 60 --perf 10") + "'";
  const ProcessResult full = test::run({.words = {"/bin/sh", "-c", "ulimit -f 40; exec " + run}});
  EXPECT_EQ(full.exit_code, 3);
  EXPECT_THAT(full.err, HasSubstr("journal.jsonl: File too large"));
  const ProcessResult result =
      assay({"run", "--resume", farm.folder / "out", "--worker-command", farm.mock("--rows 60 --perf 10")});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(farm.report().complete);
  EXPECT_EQ(count_of(farm.report(), Status::Pass), 60U);
}

TEST(Resume, RefusesARunOfWhichSomethingHasChanged) {
  const MockFarm farm;
  ASSERT_EQ(farm.run_mock("--rows 20 --fault kill@5 --fault kill@6 --fault kill@7").exit_code, 3);
  const std::string journal = read_file(farm.journal());
  for (const auto& [now, what] : {std::pair("--rows 20 --cases 2", "the case files have changed"),
                                  std::pair("--rows 20 --driver 2.0", "the driver was 1.0 and is 2.0"),
                                  std::pair("--rows 21", "20 rows, but the case files give 21 now")}) {
    const ProcessResult result =
        assay({"run", "--resume", farm.folder / "out", "--worker-command", farm.mock(now)});
    EXPECT_EQ(result.exit_code, 2) << now;
    EXPECT_THAT(result.err, HasSubstr(what));
  }
  EXPECT_EQ(journal, read_file(farm.journal())) << "nothing is lost by a refusal";
}

TEST(Resume, RefusesAnArrayThatHasChangedByItsName) {
  const MockFarm farm;
  std::vector<float> values(16, 1);
  const auto write_values = [&] {
    HostTensor tensor(DType::F32, {16});
    std::ranges::copy(values, tensor.as<float>().begin());
    write_npy(farm.folder.path() / "x.npy", tensor);
  };
  write_values();
  const std::string file = farm.folder.write(
      "q.yaml", "op: quantize_per_tensor\ncases:\n  - {name: one, shape: [16], fill: {x: {npy: x.npy}}}\n");
  ASSERT_LE(assay({"run", file, "--out", farm.folder / "out", "--ceilings", "none"}).exit_code, 1);
  values[3] = 2;
  write_values();
  const ProcessResult resumed = assay({"run", "--resume", farm.folder / "out"});
  EXPECT_EQ(resumed.exit_code, 2);
  EXPECT_THAT(resumed.err, AllOf(HasSubstr("the array in "), HasSubstr("x.npy have changed")));
}

TEST(Resume, RefusesToGoOnWithARunThatStillRuns) {
  const MockFarm farm;
  const int pid = start({.words = {ASSAY_BINARY, "run", farm.file, "--out", farm.folder / "out",
                                   "--worker-command", farm.mock("--rows 2000 --row-ms 50")}});
  while (farm.journal().empty() || fs::file_size(farm.journal()) == 0) ::usleep(10'000);
  const ProcessResult result =
      assay({"run", "--resume", farm.folder / "out", "--worker-command", farm.mock("--rows 200")});
  ::kill(pid, SIGKILL);
  EXPECT_EQ(result.exit_code, 3) << result.err;
  EXPECT_THAT(result.err, HasSubstr("another run is writing it"));
}

TEST(Resume, RefusesOtherDevices) {
  const MockFarm farm;
  ASSERT_EQ(farm.run_mock("--rows 4 --devices 2 --fault kill@0 --fault kill@1 --fault kill@2").exit_code, 3);
  const ProcessResult result =
      assay({"run", "--resume", farm.folder / "out", "--worker-command", farm.mock("--rows 4")});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("it ran on 'mock-1', but the devices here are now: mock-0"));
}

TEST(Resume, TakesNoWorkerCommandFromAJournal) {
  const MockFarm farm;
  ASSERT_EQ(farm.run_mock("--rows 5").exit_code, 0);
  std::string text = read_file(farm.journal());
  text.resize(text.rfind(R"({"event":"begin")"));
  std::ofstream(farm.journal(), std::ios::trunc) << text;
  const ProcessResult result = assay({"run", "--resume", farm.folder / "out"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("give it again"));
  const ProcessResult own = assay({"run", "--resume", farm.folder / "out", "--worker-command", ""});
  EXPECT_EQ(own.exit_code, 2) << "this binary's own worker has another device";
  EXPECT_EQ(
      assay({"run", "--resume", farm.folder / "out", "--worker-command", farm.mock("--rows 5")}).exit_code,
      0);
  EXPECT_EQ(count_of(farm.report(), Status::Pass), 5U);
}

TEST(Resume, GoesOnWithACompressedJournal) {
  const MockFarm farm;
  ASSERT_EQ(farm.run_mock("--rows 5").exit_code, 0);
  std::string text = read_file(farm.journal());
  text.resize(text.rfind(R"({"event":"begin")"));
  const fs::path journal = farm.journal();
  std::ofstream(journal.string() + ".zst", std::ios::binary) << compressed(text);
  fs::remove(journal);
  const ProcessResult result =
      assay({"run", "--resume", farm.folder / "out", "--worker-command", farm.mock("--rows 5")});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_FALSE(fs::exists(journal.string() + ".zst"));
  EXPECT_TRUE(read_file(journal).starts_with(text)) << "rows that had ended did not run again";
  EXPECT_EQ(count_of(farm.report(), Status::Pass), 5U);

  std::ofstream(journal.string() + ".zst", std::ios::binary) << compressed("another run\n");
  const ProcessResult both =
      assay({"run", "--resume", farm.folder / "out", "--worker-command", farm.mock("--rows 5")});
  EXPECT_EQ(both.exit_code, 2);
  EXPECT_THAT(both.err, HasSubstr("which are not the same run"));
}

TEST(Resume, RefusesExpectationsThatCameOrWent) {
  const MockFarm farm;
  const std::string rules = "device: none of this name\nexpect: []\n";
  ASSERT_LE(farm.run({"--mode", "accu"}).exit_code, 1);
  farm.folder.write("expectations/some.yaml", rules);
  const ProcessResult came = assay({"run", "--resume", farm.folder / "out"});
  EXPECT_EQ(came.exit_code, 2);
  EXPECT_THAT(came.err, HasSubstr("the expectations were added since"));
  ASSERT_LE(farm.run({"--mode", "accu", "--overwrite"}).exit_code, 2);
  fs::remove(farm.folder / "expectations/some.yaml");
  const ProcessResult went = assay({"run", "--resume", farm.folder / "out"});
  EXPECT_EQ(went.exit_code, 2);
  EXPECT_THAT(went.err, HasSubstr("the expectations are gone"));
}

/// Rewrites the journal of a finished run as if it had been killed twice while all of its rows ran.
void kill_twice_while_all_ran(const fs::path& journal, std::size_t rows) {
  std::istringstream lines(read_file(journal));
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    if (line.find(R"("event":"run")") != std::string::npos ||
        line.find(R"("event":"plan")") != std::string::npos)
      text += line + '\n';
  }
  for (int kill = 0; kill < 2; ++kill) {
    for (std::size_t row = 0; row < rows; ++row)
      text += fmt::format(R"({{"event":"begin","row":{}}})", row) + '\n';
    for (std::size_t row = 0; row < rows; ++row) {
      text += fmt::format(R"({{"event":"end","row":{},"status":"INTERRUPTED","reason":"{}"}})", row,
                          killed_while_running) +
              '\n';
    }
  }
  std::ofstream(journal) << text;
}

/// The most rows that ran at one time, of those that began in a journal after `from`. A timed row begins
/// twice.
std::size_t most_at_once(const std::string& journal, std::size_t from) {
  std::istringstream lines(journal.substr(from));
  std::set<int> running;
  std::size_t most = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t row = line.find(R"("row":)");
    if (row == std::string::npos) continue;
    const int number = std::stoi(line.substr(row + 6));
    if (line.find(R"("event":"begin")") != std::string::npos) running.insert(number);
    if (line.find(R"("event":"end")") != std::string::npos) running.erase(number);
    most = std::max(most, running.size());
  }
  return most;
}

TEST(Resume, WithoutIsolationRunsRowsThatWereKilledTwiceOneByOne) {
  const MockFarm farm;
  const std::vector<std::string> options{"--mode", "perf", "--budget", "0.05", "--no-isolation"};
  if (farm.run(options).exit_code == 77) GTEST_SKIP() << "no Vulkan device";
  EXPECT_GT(most_at_once(read_file(farm.journal()), 0), 1U) << "timed rows alternate";
  kill_twice_while_all_ran(farm.journal(), 4);
  const std::size_t before = read_file(farm.journal()).size();
  const ProcessResult rest = assay({"run", "--resume", farm.folder / "out", "--no-isolation"});
  EXPECT_EQ(rest.exit_code, 0) << rest.out << rest.err;
  EXPECT_EQ(count_of(farm.report(), Status::Pass), 4U);
  EXPECT_EQ(most_at_once(read_file(farm.journal()), before), 1U);
}

TEST(Resume, RefusesOptionsThatTheRunHasAlready) {
  const TemporaryFolder folder;
  const ProcessResult result = assay({"run", "--resume", folder / "out", "--filter", "a*"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, AllOf(HasSubstr("--resume"), HasSubstr("--filter")));
}

TEST(Resume, SaysWhereThereIsNothingToGoOnWith) {
  const TemporaryFolder folder;
  fs::create_directories(folder / "out");
  EXPECT_EQ(assay({"run", "--resume", folder / "out"}).exit_code, 2);
  EXPECT_EQ(assay({"run", "--resume", folder / "nowhere"}).exit_code, 2);
}

}  // namespace
}  // namespace assay::test
