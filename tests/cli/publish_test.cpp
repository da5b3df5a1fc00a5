#include "harness/report/journal/journal_text.h"
#include "tests/cli/sample_cases.h"
#include "tests/support/assay_binary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

namespace assay::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

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
  EXPECT_EQ(names, (std::set<std::string>{"journal.jsonl.zst", "accu.csv", "perf.csv", "run.json"}));
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
