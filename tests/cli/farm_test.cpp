#include "harness/report/journal/journal.h"
#include "harness/report/journal/journal_text.h"
#include "harness/report/record/events.h"
#include "harness/tensor/npy/npy.h"
#include "tests/support/assay_binary.h"
#include "tests/support/temporary_folder.h"

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
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

// Runs whose workers fail, with a mock worker that needs no device and with the real one on the best device.

namespace assay::test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* four_cases = R"(op: q8ta_relu
cases:
  - name: small
    mode: both
    shape: {each: [[1, 4, 4, 4], [1, 8, 4, 4], [1, 4, 8, 4], [1, 4, 4, 8]]}
    qparams: {x: {scale: 0.007112, zero_point: -3}, y: {scale: 0.013, zero_point: 5}}
)";

struct Farm {
  Farm() { file = folder.write("c.yaml", four_cases); }

  ProcessResult run(std::vector<std::string> more) const {
    std::vector<std::string> words{"run", file, "--out", folder / "out", "--ceilings", "none"};
    words.insert(words.end(), more.begin(), more.end());
    return assay(words);
  }
  std::string mock(const std::string& arguments) const {
    return (fs::absolute(ASSAY_SOURCE_DIR) / "tests/farm/mock_worker.py").string() + " --state " +
           (folder / "state").string() + " " + arguments;
  }
  ProcessResult run_mock(const std::string& arguments, std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"--worker-command", mock(arguments)});
    return run(more);
  }
  fs::path journal() const {
    if (!fs::exists(folder / "out" / "runs")) return {};
    for (const auto& entry : fs::recursive_directory_iterator(folder / "out" / "runs"))
      if (entry.path().filename() == "journal.jsonl") return entry.path();
    return {};
  }
  RunReport report() const { return read_journal(journal()); }
  Record row(std::size_t index) const { return report().records.at(index); }

  TemporaryFolder folder;
  std::string file;
};

std::size_t count(const RunReport& report, Status status) {
  return static_cast<std::size_t>(std::ranges::count(report.records, status, &Record::status));
}

/// For faults that hang: long against what a busy machine may take for a row, as each is waited for twice.
constexpr const char* hang_limit_s = "5";

struct Fault {
  const char* kind;
  Status status;
  const char* retry;
  int exit_code;
  const char* reason;
};
/// Additional options of a run with the fault: if the fault is a hang, silence soon counts as one.
std::vector<std::string> options_for(const Fault& fault) {
  if (fault.status != Status::Timeout) return {};
  return {"--hang-limit", hang_limit_s};
}
void PrintTo(const Fault& fault, std::ostream* out) {
  *out << fault.kind;
}

/// The name of a fault's test in CTest.
std::string name_of_fault(const ::testing::TestParamInfo<Fault>& of) {
  std::string name = of.param.kind;
  std::ranges::replace(name, '-', '_');
  return name;
}

/// In one row of twenty, of which the last four are timed.
class MockFault : public ::testing::TestWithParam<Fault> {};

TEST_P(MockFault, CostsItsRowAndNoOther) {
  constexpr std::size_t faulty = 7;
  const Fault& fault = GetParam();
  const Farm farm;
  const ProcessResult result =
      farm.run_mock("--rows 20 --perf 4 --fault " + std::string(fault.kind) + "@7", options_for(fault));
  EXPECT_EQ(result.exit_code, fault.exit_code) << result.out << result.err;
  const RunReport report = farm.report();
  EXPECT_TRUE(report.complete);
  ASSERT_EQ(report.records.size(), 20U);
  EXPECT_EQ(report.records[faulty].status, fault.status) << report.records[faulty].reason;
  EXPECT_EQ(report.records[faulty].retry, fault.retry);
  EXPECT_THAT(report.records[faulty].reason, HasSubstr(fault.reason));
  EXPECT_EQ(count(report, Status::Pass), fault.status == Status::Pass ? 20U : 19U);
}

INSTANTIATE_TEST_SUITE_P(
    OfAWorker, MockFault,
    ::testing::Values(
        Fault{"segfault", Status::Crash, "REPRODUCED", 1, "last words: mock: segfault in row 7"},
        Fault{"abort", Status::Crash, "REPRODUCED", 1, "SIGABRT"},
        Fault{"exit", Status::Crash, "REPRODUCED", 1, "exited with code 0"},
        Fault{"kill", Status::Crash, "REPRODUCED", 1, "by the kernel when memory ran out"},
        Fault{"hang", Status::Timeout, "REPRODUCED", 1, "the worker sent nothing for 5 s in work on the CPU"},
        Fault{"compile-hang", Status::Timeout, "REPRODUCED", 1, "while shaders and pipelines were compiled"},
        Fault{"dispatch-hang", Status::Timeout, "REPRODUCED", 1, "while the device ran the program"},
        Fault{"device-lost", Status::DeviceLost, "REPRODUCED", 3, "VK_ERROR_DEVICE_LOST"},
        Fault{"timeout", Status::Timeout, "REPRODUCED", 1, "did not finish within 1 s"},
        Fault{"out-of-memory", Status::OutOfMemory, "", 1, "VK_ERROR_OUT_OF_DEVICE_MEMORY"},
        Fault{"garbage", Status::Crash, "REPRODUCED", 1, "not an event"},
        Fault{"half-line", Status::Crash, "REPRODUCED", 1, "exited with code 0"},
        Fault{"order", Status::Crash, "ORDER_DEPENDENT", 1, "alone it ended as PASS"},
        Fault{"fail", Status::Fail, "", 1, "a wrong value"}, Fault{"flood", Status::Pass, "", 0, ""},
        Fault{"between", Status::Pass, "", 0, ""}),
    name_of_fault);

TEST(Farm, CallsARowFlakyThatCrashesOnce) {
  const Farm farm;
  EXPECT_EQ(farm.run_mock("--rows 5 --fault segfault@0:1").exit_code, 1);
  EXPECT_EQ(farm.row(0).status, Status::Flaky);
  EXPECT_THAT(farm.row(0).reason,
              AllOf(HasSubstr("it was CRASH"), HasSubstr("PASS when it was tried once more")));
}

TEST(Farm, KeepsTheBlocksOfTimedRowsWhenAWorkerCrashes) {
  // The third block of row 12 is the first at which it crashes: rows before it have three blocks then.
  const Farm farm;
  EXPECT_EQ(farm.run_mock("--rows 14 --perf 4 --fault kill@12:4").exit_code, 1);
  const RunReport report = farm.report();
  for (std::size_t row = 10; row < 14; ++row) {
    if (row == 12) continue;
    EXPECT_EQ(report.records[row].status, Status::Pass);
    EXPECT_EQ(report.records[row].perf.value().blocks, 7) << "none twice, none lost";
  }
}

TEST(Farm, GivesADeviceUpThatFailsThreeTimesInARow) {
  const Farm farm;
  const ProcessResult result = farm.run_mock("--rows 20 --fault kill@5 --fault kill@6 --fault kill@7");
  EXPECT_EQ(result.exit_code, 3);
  const RunReport report = farm.report();
  EXPECT_EQ(count(report, Status::Pass), 5U);
  EXPECT_EQ(count(report, Status::Crash), 3U);
  EXPECT_EQ(count(report, Status::Missing), 12U);
  EXPECT_THAT(report.records.back().reason, HasSubstr("the device failed 3 times in a row"));
}

TEST(Farm, SaysWhatWorkersSayThatNeverStart) {
  const Farm farm;
  const ProcessResult result = farm.run({"--worker-command", "echo no such host >&2; exit 255"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, AllOf(HasSubstr("starting a worker failed 3 times"), HasSubstr("no such host")));
}

TEST(Farm, StartsAnewAfterAWorkerThatCrashedBeforeItsFirstRow) {
  const Farm farm;
  EXPECT_EQ(farm.run_mock("--rows 4 --fault start@-1:2").exit_code, 0);
  EXPECT_EQ(count(farm.report(), Status::Pass), 4U);
}

TEST(Farm, RunsSeveralDevicesSideBySide) {
  const Farm farm;
  const ProcessResult result = farm.run_mock("--rows 6 --perf 2 --devices 3 --fault kill@2");
  EXPECT_EQ(result.exit_code, 1);
  for (const char* slug : {"mock-0", "mock-1", "mock-2"}) {
    const RunReport report = read_journal(farm.folder / "out" / slug / "journal.jsonl");
    EXPECT_EQ(count(report, Status::Pass), 5U) << slug;
    EXPECT_EQ(report.records[2].retry, "REPRODUCED");
    EXPECT_THAT(result.out, HasSubstr(slug));
  }
}

TEST(Farm, GivesTheTurnToTimeOnWhenTheDeviceThatHasItEnds) {
  const Farm farm;
  EXPECT_EQ(farm.run_mock("--rows 4 --perf 1 --devices 3 --fault kill@3:4").exit_code, 1);
  std::size_t passed = 0;
  for (const char* slug : {"mock-0", "mock-1", "mock-2"}) {
    const RunReport report = read_journal(farm.folder / "out" / slug / "journal.jsonl");
    EXPECT_TRUE(report.complete);
    passed += count(report, Status::Pass);
  }
  EXPECT_GE(passed, 9U);
}

TEST(Farm, StopsAtASignalWhileAWorkerOpensItsDevice) {
  const Farm farm;
  const int pid = start({.words = {ASSAY_BINARY, "run", farm.file, "--out", farm.folder / "out",
                                   "--worker-command", farm.mock("--fault start-hang@-1")}},
                        "/dev/null", farm.folder / "err");
  while (farm.journal().empty()) ::usleep(10'000);
  ::kill(pid, SIGINT);
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 3);
  EXPECT_THAT(read_file(farm.folder / "err"), HasSubstr("interrupted before the device was open"));
}

TEST(Farm, HangLimitCountsForTheQuestionWhichDevicesThereAre) {
  const Farm farm;
  const ProcessResult result = farm.run({"--worker-command", "sleep 60", "--hang-limit", "0.5"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("starting a worker failed 3 times: the worker was silent for 0.5 s"));
}

TEST(Farm, WritesWhatWasRunThoughAnotherDeviceDoesNotOpen) {
  // Each worker counts: the second device's are those that never start.
  const Farm farm;
  const std::string command = "case $(cat " + (farm.folder / "n").string() +
                              " 2>/dev/null) in '') echo x > " + (farm.folder / "n").string() + "; " +
                              farm.mock("--rows 3 --devices 2") + ";; *) exit 9;; esac";
  const ProcessResult result = farm.run({"--worker-command", command});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("opening the device failed 3 times"));
  const RunReport report = read_journal(farm.folder / "out" / "mock-0" / "journal.jsonl");
  EXPECT_TRUE(report.complete);
  EXPECT_EQ(count(report, Status::Pass), 3U);
}

// The exit code is that of the device that failed, though nothing was checked on the other.
TEST(Report, ExitCodeOfSeveralDevicesIsTheOneThatCounts) {
  const Farm farm;
  ASSERT_EQ(farm.run_mock("--rows 2 --devices 2").exit_code, 0);
  const auto replace = [&](const std::string& device, const std::string& status) {
    const fs::path journal = farm.folder / "out" / device / "journal.jsonl";
    std::string text = read_file(journal);
    const std::string pass = R"("status":"PASS")";
    for (auto at = text.find(pass); at != text.npos; at = text.find(pass, at + 1))
      text.replace(at, pass.size(), R"("status":")" + status + R"(","reason":"said so")");
    std::ofstream(journal, std::ios::trunc) << text;
  };
  replace("mock-0", "FAIL");
  replace("mock-1", "INVALID");
  const ProcessResult result = assay({"report", farm.folder / "out"});
  EXPECT_EQ(result.exit_code, 1) << result.out << result.err;
}

TEST(Farm, StartsAnewAfterAWorkerThatEndsRightAfterItsAnswer) {
  const Farm farm;
  const std::string first = (farm.folder / "first").string();
  const std::string command = "if [ -e " + first + " ]; then " + farm.mock("--rows 3") + "; else touch " +
                              first +
                              R"(; echo '{"worker":"devices","devices":[{"info":{},"slug":"mock-0"}]}'; fi)";
  const ProcessResult result = farm.run({"--worker-command", command});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(count(farm.report(), Status::Pass), 3U);
}

TEST(Farm, RefusesAWorkerThatNamesNoDevicesOrAnotherFolder) {
  const Farm farm;
  for (const char* answer :
       {R"({\"worker\":\"devices\",\"devices\":[]})",
        R"({\"worker\":\"devices\",\"devices\":[{\"info\":{},\"slug\":\"../../evil\"}]})", "hello"}) {
    const ProcessResult result =
        farm.run({"--worker-command", std::string("echo \"") + answer + "\"; sleep 5"});
    EXPECT_EQ(result.exit_code, 3) << answer;
    EXPECT_THAT(result.err, HasSubstr("asking a worker for its devices")) << answer;
  }
}

// Resuming a run.

TEST(Resume, RunsWhatIsLeftWhereverTheJournalWasCut) {
  const Farm farm;
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
    EXPECT_EQ(count(report, Status::Pass), 5U) << cut;
    EXPECT_EQ(report.records[4].perf.value().blocks, 7) << cut;
  }
}

TEST(MaxFailures, StopsARunAndItsRestCanBeRun) {
  const Farm farm;
  std::string points = "0";
  for (int i = 1; i < 10; ++i) points += ", " + std::to_string(i);
  std::string cases = four_cases;
  const std::string mode = "mode: both", point = "zero_point: 5";
  cases.replace(cases.find(mode), mode.size(), "mode: accu");
  cases.replace(cases.find(point), point.size(), "zero_point: {each: [" + points + "]}");
  farm.folder.write("c.yaml", cases);
  farm.folder.write("shaders/q8ta_relu.comp", "#version 450\nvoid main() { nothing; }\n");
  const ProcessResult stopped = farm.run({"--max-failures", "2", "--shaders", farm.folder / "shaders"});
  EXPECT_EQ(stopped.exit_code, 1) << stopped.out << stopped.err;
  EXPECT_THAT(stopped.out, HasSubstr("stopped at --max-failures 2: "));
  const RunReport first = farm.report();
  EXPECT_FALSE(first.complete);
  EXPECT_GE(count(first, Status::Fail), 2U);
  EXPECT_GE(count(first, Status::Missing), 1U);

  const ProcessResult rest =
      assay({"run", "--resume", farm.folder / "out", "--shaders", farm.folder / "shaders"});
  EXPECT_EQ(rest.exit_code, 1) << rest.err;
  EXPECT_TRUE(farm.report().complete) << "the limit was that of the first run alone";
  EXPECT_EQ(count(farm.report(), Status::Fail), 40U);
}

// Both are so at the same time.
TEST(MaxFailures, ADeviceThatIsGivenUpIsStillToldOf) {
  const Farm farm;
  const ProcessResult result =
      farm.run_mock("--rows 20 --fault kill@5 --fault kill@6 --fault kill@7", {"--max-failures", "3"});
  EXPECT_EQ(result.exit_code, 3) << result.out;
  EXPECT_THAT(farm.row(19).reason, HasSubstr("times in a row"));
}

TEST(Resume, RunsNoFinishedRowAgainButOneThatWasToBeTriedOnceMore) {
  const Farm farm;
  ASSERT_EQ(farm.run_mock("--rows 20 --fault kill@5 --fault kill@6 --fault kill@7").exit_code, 3);
  const ProcessResult result = assay(
      {"run", "--resume", farm.folder / "out", "--worker-command", farm.mock("--rows 20 --fault kill@2")});
  EXPECT_EQ(result.exit_code, 1) << "row 2 had ended, and does not crash again; 5 and 6 stay what they were";
  const RunReport report = farm.report();
  EXPECT_EQ(count(report, Status::Pass), 17U);
  EXPECT_EQ(count(report, Status::Crash), 2U);
  EXPECT_EQ(farm.row(7).status, Status::Flaky) << "the device was given up before its second try";
  EXPECT_TRUE(report.complete);
}

TEST(Resume, GoesOnWhenTheDiskIsNoLongerFull) {
  // Files may grow to so many blocks of 512 bytes: the journal's plan fits, its rows do not.
  const Farm farm;
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
  EXPECT_EQ(count(farm.report(), Status::Pass), 60U);
}

TEST(Farm, EndsWhereItsOutputCannotBeWritten) {
  const Farm farm;
  const ProcessResult result =
      assay({"run", farm.file, "--out", "/proc/assay", "--worker-command", farm.mock("")});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("/proc/assay"));
}

TEST(KillLoop, LosesNothingAndDoesNothingTwice) {
  const Farm farm;
  const ProcessResult result =
      test::run({.words = {fs::path(ASSAY_SOURCE_DIR) / "tests/farm/kill_loop.py", ASSAY_BINARY, "--kills",
                           "20", "--longest", "0.6", "--", farm.file, "--worker-command",
                           farm.mock("--rows 60 --perf 20 --row-ms 2")}});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr(": 0 defects"));
}

TEST(Resume, RefusesARunOfWhichSomethingHasChanged) {
  const Farm farm;
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
  const Farm farm;
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
  const Farm farm;
  const int pid = start({.words = {ASSAY_BINARY, "run", farm.file, "--out", farm.folder / "out",
                                   "--worker-command", farm.mock("--rows 200 --row-ms 50")}});
  while (farm.journal().empty() || fs::file_size(farm.journal()) == 0) ::usleep(10'000);
  const ProcessResult result =
      assay({"run", "--resume", farm.folder / "out", "--worker-command", farm.mock("--rows 200")});
  ::kill(pid, SIGKILL);
  EXPECT_EQ(result.exit_code, 3) << result.err;
  EXPECT_THAT(result.err, HasSubstr("another run is writing it"));
}

TEST(Resume, RefusesOtherDevices) {
  const Farm farm;
  ASSERT_EQ(farm.run_mock("--rows 4 --devices 2 --fault kill@0 --fault kill@1 --fault kill@2").exit_code, 3);
  const ProcessResult result =
      assay({"run", "--resume", farm.folder / "out", "--worker-command", farm.mock("--rows 4")});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("it ran on 'mock-1', but the devices here are now: mock-0"));
}

TEST(Resume, TakesNoWorkerCommandFromAJournal) {
  const Farm farm;
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
  EXPECT_EQ(count(farm.report(), Status::Pass), 5U);
}

TEST(Resume, GoesOnWithACompressedJournal) {
  const Farm farm;
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
  EXPECT_EQ(count(farm.report(), Status::Pass), 5U);

  std::ofstream(journal.string() + ".zst", std::ios::binary) << compressed("another run\n");
  const ProcessResult both =
      assay({"run", "--resume", farm.folder / "out", "--worker-command", farm.mock("--rows 5")});
  EXPECT_EQ(both.exit_code, 2);
  EXPECT_THAT(both.err, HasSubstr("which are not the same run"));
}

TEST(Farm, EndsAtOnceAndSavesItsJournalIfItsOutputIsRemoved) {
  for (const char* removed : {"out", "journal"}) {
    const Farm farm;
    const fs::path err = farm.folder / "err";
    const int pid = start({.words = {ASSAY_BINARY, "run", farm.file, "--out", farm.folder / "out",
                                     "--worker-command", farm.mock("--rows 2000 --row-ms 50")}},
                          "/dev/null", err);
    while (farm.journal().empty() || read_file(farm.journal()).find(R"("event":"end")") == std::string::npos)
      ::usleep(10'000);
    const fs::path journal = farm.journal();
    if (removed == std::string("out")) {
      fs::remove_all(farm.folder / "out");
    } else {
      fs::remove(journal);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(pid, &status, 0), pid);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 3) << removed << status;
    EXPECT_THAT(read_file(err), HasSubstr("was removed while the run wrote it")) << removed;
    const RunReport report = read_journal(journal);
    EXPECT_GE(count(report, Status::Pass), 1U);
    EXPECT_GE(count(report, Status::Missing), 1000U) << "it did not go on";
  }
}

TEST(Resume, RefusesExpectationsThatCameOrWent) {
  const Farm farm;
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
  const Farm farm;
  const std::vector<std::string> options{"--mode", "perf", "--budget", "0.05", "--no-isolation"};
  if (farm.run(options).exit_code == 77) GTEST_SKIP() << "no Vulkan device";
  EXPECT_GT(most_at_once(read_file(farm.journal()), 0), 1U) << "timed rows alternate";
  kill_twice_while_all_ran(farm.journal(), 4);
  const std::size_t before = read_file(farm.journal()).size();
  const ProcessResult rest = assay({"run", "--resume", farm.folder / "out", "--no-isolation"});
  EXPECT_EQ(rest.exit_code, 0) << rest.out << rest.err;
  EXPECT_EQ(count(farm.report(), Status::Pass), 4U);
  EXPECT_EQ(most_at_once(read_file(farm.journal()), before), 1U);
}

TEST(Dump, ThatCannotBeWrittenBlamesNoRow) {
  for (const bool isolation : {true, false}) {
    const Farm farm;
    std::vector<std::string> words{"--mode", "accu", "--dump", farm.folder.write("file", "")};
    if (!isolation) words.emplace_back("--no-isolation");
    const ProcessResult result = farm.run(words);
    EXPECT_EQ(result.exit_code, 3) << result.out << result.err;
    const RunReport report = farm.report();
    EXPECT_EQ(count(report, Status::Missing), report.records.size());
    EXPECT_THAT(report.records.at(0).reason, HasSubstr("dumping a case: creating '"));
  }
}

TEST(Dump, ThatFindsTheDiskFullBlamesNoRowAndTheRestIsRunLater) {
  const Farm farm;
  const std::string dump = farm.folder / "dump";
  ASSERT_EQ(farm.run({"--mode", "accu", "--dump", dump}).exit_code, 0);
  fs::path full;
  for (const auto& entry : fs::recursive_directory_iterator(dump))
    if (entry.path().filename() == "x.npy") full = std::max(full, entry.path());
  fs::remove(full);
  fs::create_symlink("/dev/full", full);
  const ProcessResult result = farm.run({"--mode", "accu", "--dump", dump, "--overwrite", "--workers", "1"});
  EXPECT_EQ(result.exit_code, 3) << result.out << result.err;
  const RunReport report = read_journal(device_folder(farm.folder / "out") / "journal.jsonl");
  EXPECT_EQ(count(report, Status::Crash), 0U);
  EXPECT_GE(count(report, Status::Missing), 1U);
  EXPECT_EQ(count(report, Status::Missing) + count(report, Status::Pass), report.records.size());
  fs::remove(full);
  EXPECT_EQ(assay({"run", "--resume", farm.folder / "out", "--dump", dump}).exit_code, 0);
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(full)));
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

// The real worker, on the best device.

/// A fault that --inject-fault puts into the second of four rows.
class InjectedFault : public ::testing::TestWithParam<Fault> {};

TEST_P(InjectedFault, CostsItsRowAndNoOther) {
  const Fault& fault = GetParam();
  const Farm farm;
  std::vector<std::string> options = options_for(fault);
  options.insert(options.end(), {"--mode", "accu", "--inject-fault", std::string(fault.kind) + "@*1x8x4x4*"});
  const ProcessResult result = farm.run(options);
  if (result.exit_code == 77) GTEST_SKIP() << "no Vulkan device";
  EXPECT_EQ(result.exit_code, fault.exit_code) << result.out << result.err;
  const RunReport report = farm.report();
  for (const Record& record : report.records) {
    const bool is_faulty = record.info.id.find("1x8x4x4") != std::string::npos;
    EXPECT_EQ(record.status, is_faulty ? fault.status : Status::Pass)
        << record.info.id << ": " << record.reason;
    if (!is_faulty) continue;
    EXPECT_EQ(record.retry, fault.retry);
    EXPECT_THAT(record.reason, HasSubstr(fault.reason));
  }
}

INSTANTIATE_TEST_SUITE_P(
    OnTheBestDevice, InjectedFault,
    ::testing::Values(Fault{"segfault", Status::Crash, "REPRODUCED", 1, "SIGSEGV"},
                      Fault{"host-loop", Status::Timeout, "REPRODUCED", 1, "in work on the CPU"},
                      Fault{"compile-loop", Status::Timeout, "REPRODUCED", 1, "were compiled"},
                      Fault{"device-loop", Status::Timeout, "REPRODUCED", 1, "while the device ran"},
                      Fault{"device-lost", Status::DeviceLost, "REPRODUCED", 3, "VK_ERROR_DEVICE_LOST"},
                      Fault{"out-of-memory", Status::OutOfMemory, "", 1, "VK_ERROR_OUT_OF_DEVICE_MEMORY"},
                      Fault{"flood", Status::Pass, "", 0, ""}),
    name_of_fault);

TEST(InjectedFault, IsTriedAloneThoughTimedRowsFollowIt) {
  const Farm farm;
  const ProcessResult result =
      farm.run({"--mode", "perf", "--budget", "0.05", "--inject-fault", "segfault@*1x8x4x4*"});
  if (result.exit_code == 77) GTEST_SKIP() << "no Vulkan device";
  const RunReport report = farm.report();
  ASSERT_EQ(report.records.size(), 4U);
  for (const Record& record : report.records) {
    const bool is_faulty = record.info.id.find("1x8x4x4") != std::string::npos;
    EXPECT_EQ(record.status, is_faulty ? Status::Crash : Status::Pass) << record.reason;
    EXPECT_THAT(record.reason, Not(HasSubstr("internal error")));
  }
}

TEST(InjectedFault, MayBeSeveralInOneRun) {
  const Farm farm;
  const ProcessResult result = farm.run({"--mode", "accu", "--inject-fault", "segfault@*1x8x4x4*",
                                         "--inject-fault", "out-of-memory@*1x4x8x4*"});
  if (result.exit_code == 77) GTEST_SKIP() << "no Vulkan device";
  const RunReport report = farm.report();
  ASSERT_EQ(report.records.size(), 4U);
  EXPECT_EQ(count(report, Status::Crash), 1U);
  EXPECT_EQ(count(report, Status::OutOfMemory), 1U);
  EXPECT_EQ(count(report, Status::Pass), 2U);
}

TEST(InjectedFault, RefusesAKindThatIsNone) {
  const Farm farm;
  const ProcessResult result = farm.run({"--inject-fault", "earthquake@*"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, AllOf(HasSubstr("earthquake"), HasSubstr("segfault, abort")));
}

TEST(Isolation, GivesTheReportThatARunInOneProcessGives) {
  const Farm isolated;
  const Farm plain;
  if (isolated.run({"--mode", "accu"}).exit_code == 77) GTEST_SKIP() << "no Vulkan device";
  ASSERT_EQ(plain.run({"--mode", "accu", "--no-isolation"}).exit_code, 0);
  const RunReport a = isolated.report();
  const RunReport b = plain.report();
  ASSERT_EQ(a.records.size(), b.records.size());
  EXPECT_EQ(a.run.inputs.at("binary"), b.run.inputs.at("binary"));
  for (std::size_t row = 0; row < a.records.size(); ++row) {
    EXPECT_EQ(a.records[row].info.id, b.records[row].info.id);
    EXPECT_EQ(a.records[row].accuracy.value().output_hash, b.records[row].accuracy.value().output_hash);
  }
}

}  // namespace
}  // namespace assay::test
