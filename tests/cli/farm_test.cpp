#include "harness/report/journal/journal.h"
#include "harness/report/record/record.h"
#include "tests/cli/farm_test_support.h"
#include "tests/support/assay_binary.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
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
  const MockFarm farm;
  const ProcessResult result =
      farm.run_mock("--rows 20 --perf 4 --fault " + std::string(fault.kind) + "@7", options_for(fault));
  EXPECT_EQ(result.exit_code, fault.exit_code) << result.out << result.err;
  const RunReport report = farm.report();
  EXPECT_TRUE(report.complete);
  ASSERT_EQ(report.records.size(), 20U);
  EXPECT_EQ(report.records[faulty].status, fault.status) << report.records[faulty].reason;
  EXPECT_EQ(report.records[faulty].retry, fault.retry);
  EXPECT_THAT(report.records[faulty].reason, HasSubstr(fault.reason));
  EXPECT_EQ(count_of(report, Status::Pass), fault.status == Status::Pass ? 20U : 19U);
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
  const MockFarm farm;
  EXPECT_EQ(farm.run_mock("--rows 5 --fault segfault@0:1").exit_code, 1);
  EXPECT_EQ(farm.row(0).status, Status::Flaky);
  EXPECT_THAT(farm.row(0).reason,
              AllOf(HasSubstr("it was CRASH"), HasSubstr("PASS when it was tried once more")));
}

TEST(Farm, KeepsTheBlocksOfTimedRowsWhenAWorkerCrashes) {
  // The third block of row 12 is the first at which it crashes: rows before it have three blocks then.
  const MockFarm farm;
  EXPECT_EQ(farm.run_mock("--rows 14 --perf 4 --fault kill@12:4").exit_code, 1);
  const RunReport report = farm.report();
  for (std::size_t row = 10; row < 14; ++row) {
    if (row == 12) continue;
    EXPECT_EQ(report.records[row].status, Status::Pass);
    EXPECT_EQ(report.records[row].perf.value().blocks, 7) << "none twice, none lost";
  }
}

TEST(Farm, GivesADeviceUpThatFailsThreeTimesInARow) {
  const MockFarm farm;
  const ProcessResult result = farm.run_mock("--rows 20 --fault kill@5 --fault kill@6 --fault kill@7");
  EXPECT_EQ(result.exit_code, 3);
  const RunReport report = farm.report();
  EXPECT_EQ(count_of(report, Status::Pass), 5U);
  EXPECT_EQ(count_of(report, Status::Crash), 3U);
  EXPECT_EQ(count_of(report, Status::Missing), 12U);
  EXPECT_THAT(report.records.back().reason, HasSubstr("the device failed 3 times in a row"));
}

TEST(Farm, SaysWhatWorkersSayThatNeverStart) {
  const MockFarm farm;
  const ProcessResult result = farm.run({"--worker-command", "echo no such host >&2; exit 255"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, AllOf(HasSubstr("starting a worker failed 3 times"), HasSubstr("no such host")));
}

TEST(Farm, StartsAnewAfterAWorkerThatCrashedBeforeItsFirstRow) {
  const MockFarm farm;
  EXPECT_EQ(farm.run_mock("--rows 4 --fault start@-1:2").exit_code, 0);
  EXPECT_EQ(count_of(farm.report(), Status::Pass), 4U);
}

TEST(Farm, RunsSeveralDevicesSideBySide) {
  const MockFarm farm;
  const ProcessResult result = farm.run_mock("--rows 6 --perf 2 --devices 3 --fault kill@2");
  EXPECT_EQ(result.exit_code, 1);
  for (const char* slug : {"mock-0", "mock-1", "mock-2"}) {
    const RunReport report = read_journal(farm.folder / "out" / slug / "journal.jsonl");
    EXPECT_EQ(count_of(report, Status::Pass), 5U) << slug;
    EXPECT_EQ(report.records[2].retry, "REPRODUCED");
    EXPECT_THAT(result.out, HasSubstr(slug));
  }
}

TEST(Farm, GivesTheTurnToTimeOnWhenTheDeviceThatHasItEnds) {
  const MockFarm farm;
  EXPECT_EQ(farm.run_mock("--rows 4 --perf 1 --devices 3 --fault kill@3:4").exit_code, 1);
  std::size_t passed = 0;
  for (const char* slug : {"mock-0", "mock-1", "mock-2"}) {
    const RunReport report = read_journal(farm.folder / "out" / slug / "journal.jsonl");
    EXPECT_TRUE(report.complete);
    passed += count_of(report, Status::Pass);
  }
  EXPECT_GE(passed, 9U);
}

TEST(Farm, StopsAtASignalWhileAWorkerOpensItsDevice) {
  const MockFarm farm;
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
  const MockFarm farm;
  const ProcessResult result = farm.run({"--worker-command", "sleep 60", "--hang-limit", "0.5"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("starting a worker failed 3 times: the worker was silent for 0.5 s"));
}

TEST(Farm, WritesWhatWasRunThoughAnotherDeviceDoesNotOpen) {
  // Each worker counts: the second device's are those that never start.
  const MockFarm farm;
  const std::string command = "case $(cat " + (farm.folder / "n").string() +
                              " 2>/dev/null) in '') echo x > " + (farm.folder / "n").string() + "; " +
                              farm.mock("--rows 3 --devices 2") + ";; *) exit 9;; esac";
  const ProcessResult result = farm.run({"--worker-command", command});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("opening the device failed 3 times"));
  const RunReport report = read_journal(farm.folder / "out" / "mock-0" / "journal.jsonl");
  EXPECT_TRUE(report.complete);
  EXPECT_EQ(count_of(report, Status::Pass), 3U);
}

// The exit code is that of the device that failed, though nothing was checked on the other.
TEST(Report, ExitCodeOfSeveralDevicesIsTheOneThatCounts) {
  const MockFarm farm;
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
  const MockFarm farm;
  const std::string first = (farm.folder / "first").string();
  const std::string command = "if [ -e " + first + " ]; then " + farm.mock("--rows 3") + "; else touch " +
                              first +
                              R"(; echo '{"worker":"devices","devices":[{"info":{},"slug":"mock-0"}]}'; fi)";
  const ProcessResult result = farm.run({"--worker-command", command});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(count_of(farm.report(), Status::Pass), 3U);
}

TEST(Farm, RefusesAWorkerThatNamesNoDevicesOrAnotherFolder) {
  const MockFarm farm;
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

TEST(MaxFailures, StopsARunAndItsRestCanBeRun) {
  const MockFarm farm;
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
  EXPECT_GE(count_of(first, Status::Fail), 2U);
  EXPECT_GE(count_of(first, Status::Missing), 1U);

  const ProcessResult rest =
      assay({"run", "--resume", farm.folder / "out", "--shaders", farm.folder / "shaders"});
  EXPECT_EQ(rest.exit_code, 1) << rest.err;
  EXPECT_TRUE(farm.report().complete) << "the limit was that of the first run alone";
  EXPECT_EQ(count_of(farm.report(), Status::Fail), 40U);
}

// Both are so at the same time.
TEST(MaxFailures, ADeviceThatIsGivenUpIsStillToldOf) {
  const MockFarm farm;
  const ProcessResult result =
      farm.run_mock("--rows 20 --fault kill@5 --fault kill@6 --fault kill@7", {"--max-failures", "3"});
  EXPECT_EQ(result.exit_code, 3) << result.out;
  EXPECT_THAT(farm.row(19).reason, HasSubstr("times in a row"));
}

TEST(Farm, EndsWhereItsOutputCannotBeWritten) {
  const MockFarm farm;
  const ProcessResult result =
      assay({"run", farm.file, "--out", "/proc/assay", "--worker-command", farm.mock("")});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("/proc/assay"));
}

TEST(KillLoop, LosesNothingAndDoesNothingTwice) {
  const MockFarm farm;
  const ProcessResult result =
      test::run({.words = {fs::path(ASSAY_SOURCE_DIR) / "tests/farm/kill_loop.py", ASSAY_BINARY, "--kills",
                           "20", "--longest", "0.6", "--", farm.file, "--worker-command",
                           farm.mock("--rows 60 --perf 20 --row-ms 2")}});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr(": 0 defects"));
}

TEST(Farm, EndsAtOnceAndSavesItsJournalIfItsOutputIsRemoved) {
  for (const char* removed : {"out", "journal"}) {
    const MockFarm farm;
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
    EXPECT_GE(count_of(report, Status::Pass), 1U);
    EXPECT_GE(count_of(report, Status::Missing), 1000U) << "it did not go on";
  }
}

TEST(Dump, ThatCannotBeWrittenBlamesNoRow) {
  for (const bool isolation : {true, false}) {
    const MockFarm farm;
    std::vector<std::string> words{"--mode", "accu", "--dump", farm.folder.write("file", "")};
    if (!isolation) words.emplace_back("--no-isolation");
    const ProcessResult result = farm.run(words);
    EXPECT_EQ(result.exit_code, 3) << result.out << result.err;
    const RunReport report = farm.report();
    EXPECT_EQ(count_of(report, Status::Missing), report.records.size());
    EXPECT_THAT(report.records.at(0).reason, HasSubstr("dumping a case: creating '"));
  }
}

TEST(Dump, ThatFindsTheDiskFullBlamesNoRowAndTheRestIsRunLater) {
  const MockFarm farm;
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
  EXPECT_EQ(count_of(report, Status::Crash), 0U);
  EXPECT_GE(count_of(report, Status::Missing), 1U);
  EXPECT_EQ(count_of(report, Status::Missing) + count_of(report, Status::Pass), report.records.size());
  fs::remove(full);
  EXPECT_EQ(assay({"run", "--resume", farm.folder / "out", "--dump", dump}).exit_code, 0);
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(full)));
}

// The real worker, on the best device.

/// A fault that --inject-fault puts into the second of four rows.
class InjectedFault : public ::testing::TestWithParam<Fault> {};

TEST_P(InjectedFault, CostsItsRowAndNoOther) {
  const Fault& fault = GetParam();
  const MockFarm farm;
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
  const MockFarm farm;
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
  const MockFarm farm;
  const ProcessResult result = farm.run({"--mode", "accu", "--inject-fault", "segfault@*1x8x4x4*",
                                         "--inject-fault", "out-of-memory@*1x4x8x4*"});
  if (result.exit_code == 77) GTEST_SKIP() << "no Vulkan device";
  const RunReport report = farm.report();
  ASSERT_EQ(report.records.size(), 4U);
  EXPECT_EQ(count_of(report, Status::Crash), 1U);
  EXPECT_EQ(count_of(report, Status::OutOfMemory), 1U);
  EXPECT_EQ(count_of(report, Status::Pass), 2U);
}

TEST(InjectedFault, RefusesAKindThatIsNone) {
  const MockFarm farm;
  const ProcessResult result = farm.run({"--inject-fault", "earthquake@*"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, AllOf(HasSubstr("earthquake"), HasSubstr("segfault, abort")));
}

TEST(Isolation, GivesTheReportThatARunInOneProcessGives) {
  const MockFarm isolated;
  const MockFarm plain;
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
