#include "harness/report/journal/journal_text.h"
#include "tests/cli/sample_cases.h"
#include "tests/support/assay_binary.h"
#include "tests/support/process.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <sys/wait.h>
#include <thread>

namespace assay::test {

// scripts/farm/night/slurm_task.sh with a binary and a Slurm that only write down how they are called.

namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// A run that waits for SIGTERM, and then ends like a run that a signal ended.
constexpr const char* waiting_run = R"sh(#!/bin/bash
trap 'echo TERM >>stopped; exit 3' TERM
touch started
for ((i = 0; i < 600; ++i)); do sleep 0.1; done
)sh";

/// Stands for a command of the system, and first sends SIGUSR1 to the process in the file `pid`, once.
constexpr const char* signalling = R"sh(#!/bin/bash
until [[ -s $PLACE/pid ]]; do sleep 0.01; done
[[ -e $PLACE/sent ]] || { touch "$PLACE/sent" && kill -USR1 "$(<"$PLACE/pid")"; }
PATH=/usr/bin:/bin exec "$(basename "$0")" "$@"
)sh";

class SlurmTask : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder / "package/scripts/farm");
    fs::copy(fs::path(ASSAY_SOURCE_DIR) / "scripts/farm/night", folder / "package/scripts/farm/night");
    write_program("package/assay", waiting_run);
    write_program("bin/scontrol", "#!/bin/bash\necho \"$*\" >>\"$PLACE/scontrol\"\n");
    write_program("bin/squeue", "#!/bin/bash\ncat \"$PLACE/queue\"\n");
    folder.write("queue", "7\n");
    folder.write("night/console/slow.slurm.txt", "");
    folder.write("night/plan", "assay=" + (folder / "package/assay").string() +
                                   " shards=2 keep='' options=(--mode accu)\n");
    folder.write("night/devices.tsv", "slow\tbb\tSlow\tslow 2\n");
    folder.write("night/jobs", "7\n6\n");
  }

  void write_program(const std::string& name, const std::string& text) const {
    fs::permissions(folder.write(name, text), fs::perms::owner_all);
  }

  int start_task() const {
    const std::string path = (folder / "bin").string() + ":" + std::getenv("PATH");
    const int pid =
        start({.words = {folder / "package/scripts/farm/night/slurm_task.sh", folder / "night", "slow"},
               .environment = {{"PATH", path},
                               {"PLACE", folder.path()},
                               {"SLURM_ARRAY_TASK_ID", "2"},
                               {"SLURM_ARRAY_JOB_ID", "6"},
                               {"SLURM_JOB_ID", "8"}}},
              folder / "out", folder / "err");
    folder.write("pid", std::to_string(pid));
    return pid;
  }

  static int exit_code_of(int pid) {
    int status = 0;
    ::waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  void wait_for(const std::string& file) const {
    for (int i = 0; i < 3000 && !fs::exists(folder / file); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }

  TemporaryFolder folder;
};

TEST_F(SlurmTask, ASignalEndsTheRunAndTheTaskIsRequeued) {
  const int pid = start_task();
  wait_for("package/started");
  ::kill(pid, SIGUSR1);
  EXPECT_EQ(exit_code_of(pid), 0);
  EXPECT_EQ(folder.read("package/stopped"), "TERM\n");
  EXPECT_EQ(folder.read("scontrol"), "requeue 8\n");
  EXPECT_THAT(folder.read("err"),
              AllOf(HasSubstr("the time limit is near"), HasSubstr("exit code 3, ended by USR1")));
}

TEST_F(SlurmTask, ASignalBeforeTheRunHasStartedEndsItToo) {
  for (const char* command : {"dirname", "date"}) {  // called before and after lib.sh is read
    write_program(std::string("bin/") + command, signalling);
    const int pid = start_task();
    EXPECT_EQ(exit_code_of(pid), 0) << folder.read("err");
    EXPECT_EQ(folder.read("scontrol"), "requeue 8\n") << command << ": " << folder.read("err");
    EXPECT_TRUE(fs::exists(folder / "sent"));
    for (const std::string& name :
         {"bin/" + std::string(command), std::string("scontrol"), std::string("sent"), std::string("pid")})
      fs::remove(folder / name);
  }
}

TEST_F(SlurmTask, OfANightThatWasGivenUpIsNotRequeued) {
  folder.write("queue", "");
  const int pid = start_task();
  wait_for("package/started");
  ::kill(pid, SIGUSR1);
  EXPECT_EQ(exit_code_of(pid), 3);
  EXPECT_FALSE(fs::exists(folder / "scontrol"));
  EXPECT_THAT(folder.read("err"), HasSubstr("not requeued: the night was given up"));
}

// Nights of `assay run`, and what `assay verdict` says of them.

using ::testing::StartsWith;

class VerdictCommand : public ::testing::Test {
 protected:
  /// One device's night of these cases.
  std::string night(const std::string& name, const std::string& cases) {
    const std::string out = farm / name;
    const ProcessResult result =
        assay({"run", farm.write("cases.yaml", cases), "--ceilings", "none", "--out", out});
    EXPECT_NE(result.exit_code, 77) << result.err;
    return out;
  }

  TemporaryFolder farm;
};

TEST_F(VerdictCommand, HoldsANightAgainstTheLastGoodOne) {
  const std::string first = night("first", shuffle_cases);
  ProcessResult result = assay({"verdict", first});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_THAT(result.out, StartsWith("GOOD: first, 1 of 1 device good\n"));

  // Rows of the first night are gone, and one proves nothing.
  const std::string second =
      night("second", std::string(mistrusted_cases) +
                          std::string(shuffle_cases).substr(std::string(shuffle_cases).find("  - name")));
  result = assay({"verdict", second});
  EXPECT_EQ(result.exit_code, 1) << result.out << result.err;
  EXPECT_THAT(result.out, StartsWith("FAILURES: second, 0 of 1 device good, 1 row failed\n"));
  EXPECT_THAT(result.out, HasSubstr("4 SAME"));

  const auto json = nlohmann::json::parse(read_file(fs::path(second) / "nightly.json"));
  EXPECT_EQ(json.at("exit_code"), 1);
  const auto& device = json.at("devices").at(0);
  EXPECT_TRUE(fs::exists(fs::path(second) / device.at("report").get<std::string>() / "journal.jsonl"));
  EXPECT_EQ(device.at("failures").at(0).at("status"), "MISTRUSTED");
  EXPECT_EQ(device.at("comparison").at("totals").at("SAME"), 4);
  EXPECT_EQ(fs::canonical(fs::path(second) / device.at("last_good").at("report").get<std::string>()),
            fs::canonical(fs::path(first) / device.at("slug").get<std::string>()));
  EXPECT_EQ(read_file(fs::path(second) / "verdict.txt"), result.out);
}

TEST_F(VerdictCommand, AppendsToGithubsSummaryAsRunAndReportDo) {
  const std::string summary = farm.write("summary.md", "before\n"), out = farm / "night";
  ProcessResult result = assay({"run", farm.write("cases.yaml", mistrusted_cases), "--ceilings", "none",
                                "--out", out, "--github-summary", summary});
  EXPECT_EQ(result.exit_code, 1) << result.err;
  const std::string after_run = read_file(summary);
  EXPECT_THAT(after_run, StartsWith("before\n## assay run\n\n0 fine, **1 failed**\n"));
  EXPECT_THAT(after_run, HasSubstr("| MISTRUSTED | `q8ta_pixel_shuffle/flat/"));
  EXPECT_EQ(assay({"report", out, "--github-summary", summary}).exit_code, 1);
  EXPECT_THAT(read_file(summary), StartsWith(after_run + "## assay report\n"));
  EXPECT_EQ(assay({"verdict", out, "--github-summary", summary}).exit_code, 1);
  EXPECT_THAT(read_file(summary), HasSubstr("\n## Night night\n\n**FAILURES**: 0 of 1 devices good\n"));
  result = assay({"report", out, "--github-summary", "/no/such/folder/summary.md"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("/no/such/folder/summary.md"));
}

TEST_F(VerdictCommand, TakesTheNightAfterOptionsThatMayBeRepeated) {
  const std::string first = night("first", shuffle_cases);
  for (const char* option : {"--accept", "--expect-slug"}) {
    const ProcessResult result = assay({"verdict", option, "all", first});
    EXPECT_THAT(result.out, HasSubstr(": first, 1 of ")) << option << ": " << result.err;
  }
  EXPECT_EQ(assay({"verdict", "--accept", "all", first}).exit_code, 0);
}

TEST_F(VerdictCommand, WantsANight) {
  EXPECT_EQ(assay({"verdict"}).exit_code, 2);
  const ProcessResult result = assay({"verdict", farm / "nowhere"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("nowhere cannot be found"));
  EXPECT_THAT(assay({"verdict", "--help"}).out, HasSubstr("Exit code: 0 every device is good"));
}

TEST_F(VerdictCommand, SaysSoWhenItCannotWrite) {
  const std::string first = night("first", shuffle_cases);
  fs::create_directory(fs::path(first) / "nightly.json");
  const ProcessResult result = assay({"verdict", first});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("nightly.json"));
  EXPECT_THAT(result.out, StartsWith("GOOD: first"));
  EXPECT_FALSE(fs::exists(farm / "last-good"));
}

using ::testing::Not;

TEST(PruneCommand, RemovesJudgedNightsButForTheNewestAndTheLastGood) {
  const TemporaryFolder farm;
  const TemporaryFolder cases;
  for (const char* name : {"a", "b", "c"}) {
    const std::string night = farm / name;
    const bool is_good = std::string(name) == "a";
    ASSERT_NE(assay({"run", cases.write("c.yaml", is_good ? shuffle_cases : mistrusted_cases), "--ceilings",
                     "none", "--mode", "accu", "--out", night})
                  .exit_code,
              77);
    EXPECT_EQ(assay({"verdict", night}).exit_code, is_good ? 0 : 3)
        << "no row in common with the last good night";
    // Nights are in the order of the seconds in which they began.
    if (is_good) std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  }
  const ProcessResult trial = assay({"prune", farm.path(), "--keep", "1", "--dry-run"});
  EXPECT_EQ(trial.exit_code, 0) << trial.err;
  EXPECT_TRUE(fs::exists(farm / "b"));
  const ProcessResult result = assay({"prune", farm.path(), "--keep", "1"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("points to it"));
  EXPECT_TRUE(fs::exists(farm / "a/nightly.json"));
  EXPECT_NE(fs::exists(farm / "b"), fs::exists(farm / "c")) << "they may have begun in the same second";
}

TEST(PruneCommand, WantsARule) {
  const TemporaryFolder farm;
  const ProcessResult result = assay({"prune", farm.path()});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("--older-than DAYS"));
  EXPECT_EQ(assay({"prune", farm.path(), "--keep", "0"}).exit_code, 2);
  EXPECT_EQ(assay({"prune", farm.path(), "--keep", "-1"}).exit_code, 2);
  EXPECT_THAT(assay({"prune", "--help"}).out, HasSubstr("Never removed:"));
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, text.npos) << from;
  return text.replace(at, from.size(), to);
}

// `"key":"value"`, as the first line of a journal has it.
std::string field_of(const std::string& journal, const std::string& key) {
  const auto at = journal.find("\"" + key + "\":\"");
  return journal.substr(at, journal.find('"', at + key.size() + 4) + 1 - at);
}

/// scripts/farm/publish.sh on the journal of one run, whose text each test damages in its own way.
class Publish : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const TemporaryFolder folder;
    folder.write("c.yaml", both_cases);
    const ProcessResult result = run({.words = {std::filesystem::absolute(ASSAY_BINARY), "run", "--ceilings",
                                                "none", "c.yaml", "--budget", "0.1", "--out", "out"},
                                      .directory = folder.path()});
    ASSERT_EQ(result.exit_code, 0) << result.out << result.err;
    const ProcessResult commit = run({.words = {"git", "rev-parse", "--short=12", "HEAD"}});
    if (commit.exit_code != 0) GTEST_SKIP() << "this is no clone: " << commit.err;
    recorded = read_file(device_folder(folder / "out") / "journal.jsonl");
    // The journal as a run of a clean build with relative paths would have written it.
    recorded = replaced(recorded, std::filesystem::absolute(ASSAY_BINARY), "build/release/assay");
    recorded = replaced(recorded, field_of(recorded, "version"),
                        R"("version":"0.1.0+)" + commit.out.substr(0, 12) + "\"");
    if (const auto environment = recorded.find("\"environment\":{"); environment != recorded.npos)
      recorded.erase(environment, recorded.find('}', environment) + 2 - environment);
    recorded = replaced(recorded, field_of(recorded, "host"), R"("host":"secret-machine")");
  }

  ProcessResult publish(const std::string& journal, const std::string& name = "acme") {
    folder.write("device/journal.jsonl", journal);
    return run({.words = {"scripts/farm/publish.sh", folder / "device", name, folder / "published"},
                .environment = {{"ASSAY", std::filesystem::absolute(ASSAY_BINARY)}}});
  }

  void expect_refused(const std::string& journal, const std::string& reason) {
    const ProcessResult result = publish(journal);
    EXPECT_EQ(result.exit_code, 1) << result.out << result.err;
    EXPECT_THAT(result.err, HasSubstr("Not published: "));
    EXPECT_THAT(result.err, HasSubstr(reason));
    EXPECT_FALSE(std::filesystem::exists(folder / "published"));
  }

  static const std::string& journal() { return recorded; }

  TemporaryFolder folder;

 private:
  static inline std::string recorded;
};

TEST_F(Publish, KeepsTheFilesThatPivotAndPeopleRead) {
  const ProcessResult result = publish(journal());
  ASSERT_EQ(result.exit_code, 0) << result.out << result.err;
  std::set<std::string> names;
  const std::string published = folder / "published/acme";
  for (const auto& entry : std::filesystem::directory_iterator(published)) {
    names.insert(entry.path().filename());
    EXPECT_THAT(journal_text(entry.path()), Not(HasSubstr("secret-machine"))) << entry.path();
  }
  EXPECT_EQ(names, (std::set<std::string>{"journal.jsonl.zst", "perf.csv", "run.json"}));
  EXPECT_EQ(journal_text(published + "/journal.jsonl.zst"),
            replaced(journal(), "\"host\":\"secret-machine\",", ""));
  EXPECT_EQ(assay({"pivot", folder / "published", folder / "device", "--hashes"}).out,
            "1 exact output equal on 2 devices\n");
}

TEST_F(Publish, ReplacesAnOlderReportOfThatName) {
  folder.write("published/acme/old.txt", "");
  EXPECT_EQ(publish(journal()).exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(folder / "published/acme/old.txt"));
  EXPECT_TRUE(std::filesystem::exists(folder / "published/acme/run.json"));
}

TEST_F(Publish, CountsARowThatEndedTwiceOnce) {
  const std::string missing =
      R"({"event":"end","row":1,"status":"MISSING","reason":"not run: the run was stopped"})";
  const auto ended = journal().find(R"({"event":"begin","row":1)");
  ASSERT_NE(ended, std::string::npos);
  const ProcessResult result = publish(std::string(journal()).insert(ended, missing + "\n"));
  ASSERT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_THAT(result.out + result.err, HasSubstr("Published 2 rows of "));
}

TEST_F(Publish, TakesAJournalThatIsCompressedAlready) {
  folder.write("device/journal.jsonl.zst", compressed(journal()));
  const ProcessResult result =
      run({.words = {"scripts/farm/publish.sh", folder / "device", "acme", folder / "published"},
           .environment = {{"ASSAY", std::filesystem::absolute(ASSAY_BINARY)}}});
  ASSERT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_EQ(journal_text(folder / "published/acme/journal.jsonl.zst"),
            replaced(journal(), "\"host\":\"secret-machine\",", ""));
}

TEST_F(Publish, RefusesARunThatDidNotEnd) {
  expect_refused(replaced(journal(), "{\"event\":\"done\"}\n", ""), "the run did not finish");
}

TEST_F(Publish, RefusesFailures) {
  expect_refused(replaced(journal(), R"("status":"PASS")", R"("status":"FAIL")"), "not every row is fine");
}

TEST_F(Publish, RefusesABuildThatNobodyElseHas) {
  const std::string version = field_of(journal(), "version");
  expect_refused(replaced(journal(), version, replaced(version, "0.1.0+", "0.1.0+0000")),
                 "from a commit that is not in this repository");
  expect_refused(replaced(journal(), version, version.substr(0, version.size() - 1) + "-dirty\""),
                 "with uncommitted changes");
}

TEST_F(Publish, RefusesKernelsFromAFolder) {
  expect_refused(replaced(journal(), R"("mode":"perf",)", R"("mode":"perf","shaders":"edited",)"),
                 "took its kernels from a folder");
}

TEST_F(Publish, RefusesTimesUnderTheValidationLayer) {
  expect_refused(replaced(journal(), R"("event":"run")", R"("event":"run","validation":true)"),
                 "with the validation layer on");
}

TEST_F(Publish, RefusesPathsOfTheMachine) {
  expect_refused(replaced(journal(), R"("file":"c.yaml")", R"("file":"/home/someone/c.yaml")"),
                 "/home/someone/c.yaml");
  expect_refused(replaced(journal(), R"("event":"run")",
                          R"("event":"run","environment":{"VK_DRIVER_FILES":"/srv/icd.json"})"),
                 "/srv/icd.json");
}

TEST_F(Publish, TakesPathsThatAllMachinesHave) {
  const ProcessResult result =
      publish(replaced(journal(), R"("event":"run")",
                       R"("event":"run","energy":"none: RAPL: /sys/class/powercap has no zone")"));
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
}

// Its tasks are told where everything lies.
TEST_F(Publish, TakesTheReportOfANight) {
  const std::string night = replaced(
      replaced(journal(), "\"build/release/assay\"", "\"/opt/farm/assay\""), R"("--out","out")",
      R"("--out","/srv/night/shards/1","--ceiling-store","/srv/night/ceilings","--answer-cache","/srv/a b")");
  const std::string run = R"("event":"run")";
  const ProcessResult result =
      publish(replaced(night, run, run + R"(,"repro_options":"--device '0a1b' --device '2c3d' --seed 7")"));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  std::string expected = replaced(journal(), R"("host":"secret-machine",)", "");
  expected = replaced(expected, "\"build/release/assay\"", "\"assay\"");
  expected = replaced(expected, R"("--out","out")",
                      R"("--out","1","--ceiling-store","ceilings","--answer-cache","a b")");
  expected = replaced(expected, run, run + R"(,"repro_options":"--seed 7")");
  EXPECT_EQ(journal_text(folder / "published/acme/journal.jsonl.zst"), expected);
}

TEST_F(Publish, TakesPathsOfTheSystemsPackages) {
  const ProcessResult result =
      publish(replaced(journal(), R"("event":"run")",
                       R"("event":"run","environment":{"VK_LAYER_PATH":"/usr/share/vulkan/icd.json"})"));
  EXPECT_EQ(result.exit_code, 0) << result.err;
}

TEST_F(Publish, WantsAFolderAndAPlainName) {
  EXPECT_EQ(publish(journal(), "../acme").exit_code, 2);
  EXPECT_EQ(publish(journal(), "").exit_code, 2);
  EXPECT_EQ(run({.words = {"scripts/farm/publish.sh"}}).exit_code, 2);
  const TemporaryFolder empty, two;
  for (const char* device : {"a", "b"}) two.write(std::string(device) + "/journal.jsonl", journal());
  for (const std::string& report : {empty.path().string(), two.path().string(), (empty / "none").string()}) {
    const ProcessResult result =
        run({.words = {"scripts/farm/publish.sh", report, "acme", folder / "published"}});
    EXPECT_EQ(result.exit_code, 2) << report;
    EXPECT_THAT(result.err, HasSubstr("does not hold the journal of one device")) << report;
  }
}

TEST_F(Publish, TakesTheOutputFolderAndTheJournalOfADevice) {
  folder.write("device/journal.jsonl", journal());
  for (const std::string& report : {folder.path().string(), (folder / "device/journal.jsonl").string()}) {
    const ProcessResult result =
        run({.words = {"scripts/farm/publish.sh", report, "acme", folder / "published/of"},
             .environment = {{"ASSAY", std::filesystem::absolute(ASSAY_BINARY)}}});
    EXPECT_EQ(result.exit_code, 0) << result.err;
  }
}

}  // namespace

}  // namespace assay::test
