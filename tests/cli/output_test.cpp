#include "harness/report/journal/journal.h"
#include "tests/cli/sample_cases.h"
#include "tests/support/assay_binary.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>

namespace assay::test {

// Where runs put their reports.

namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

/// The binary, run in a folder of its own with the cases c.yaml.
struct Desk {
  TemporaryFolder folder;

  Desk() { folder.write("cases/c.yaml", shuffle_cases); }
  ProcessResult assay(std::vector<std::string> words) const {
    words.insert(words.begin(), fs::absolute(ASSAY_BINARY));
    return run({.words = std::move(words), .directory = folder.path()});
  }
  std::size_t runs_in(const std::string& out) const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder / (out + "/runs")), {}));
  }
};

TEST(Output, TwoRunsIntoTheDefaultFolderAreBothKept) {
  const Desk desk;
  const ProcessResult first = desk.assay({"run"});
  ASSERT_EQ(first.exit_code, 0) << first.err;
  const fs::path newest = device_folder(desk.folder / "assay-out");
  const fs::path old = fs::canonical(newest);
  EXPECT_THAT(first.out, HasSubstr("reports assay-out/runs/"));
  ASSERT_EQ(desk.assay({"run"}).exit_code, 0);
  EXPECT_EQ(desk.runs_in("assay-out"), 2U);
  EXPECT_TRUE(fs::exists(old / "accu.csv"));
  EXPECT_NE(fs::canonical(newest), old) << "the link names the newest run";
  EXPECT_EQ(read_journal(newest / "journal.jsonl").run.run_id,
            fs::canonical(newest).parent_path().filename());
}

TEST(Output, ALookAtSomeCasesGoesToScratch) {
  const Desk desk;
  ASSERT_EQ(desk.assay({"run", "--filter", "*2x24x8x5*"}).exit_code, 0);
  EXPECT_TRUE(fs::exists(device_folder(desk.folder / "assay-out/scratch") / "accu.csv"));
  EXPECT_FALSE(fs::exists(desk.folder / "assay-out/runs"));
  const ProcessResult result = desk.assay({"show", "assay-out", "small"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("assay-out/scratch has the newest run"));
}

TEST(Output, AnOutThatHoldsARunIsRefusedUnlessOverwriteIsGiven) {
  const Desk desk;
  ASSERT_EQ(desk.assay({"run", "--out", "out"}).exit_code, 0);
  const fs::path old = fs::canonical(device_folder(desk.folder / "out"));
  const std::string journal = read_file(old / "journal.jsonl");
  const ProcessResult refused = desk.assay({"run", "--out", "out"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("--out 'out' already holds a run"));
  EXPECT_THAT(refused.err, HasSubstr("--overwrite"));
  EXPECT_EQ(desk.runs_in("out"), 1U);
  EXPECT_EQ(desk.assay({"run", "--out", "out", "--overwrite"}).exit_code, 0);
  EXPECT_EQ(desk.runs_in("out"), 2U);
  EXPECT_EQ(read_file(old / "journal.jsonl"), journal) << "the old run is as it was";
  EXPECT_NE(fs::canonical(device_folder(desk.folder / "out")), old);
}

TEST(Output, AFolderOfAnOlderVersionIsNotReplacedByALink) {
  const Desk desk;
  ASSERT_EQ(desk.assay({"run"}).exit_code, 0);
  const fs::path link = device_folder(desk.folder / "assay-out");
  fs::remove(link);
  desk.folder.write("assay-out/" + link.filename().string() + "/accu.csv", "precious");
  const ProcessResult result = desk.assay({"run"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("move it away (mv 'assay-out/" + link.filename().string() + "'"));
  EXPECT_EQ(read_file(link / "accu.csv"), "precious");
}

TEST(Output, EveryReaderTakesAnOutputFolderARunADeviceAndAJournal) {
  const Desk desk;
  ASSERT_EQ(desk.assay({"run"}).exit_code, 0);
  const std::string device = "assay-out/" + device_folder(desk.folder / "assay-out").filename().string();
  const std::string run = fs::canonical(desk.folder / device).parent_path();
  ASSERT_EQ(desk.assay({"run", "--out", "other"}).exit_code, 0);
  for (const std::string& report : {std::string("assay-out"), device, run, device + "/journal.jsonl"}) {
    EXPECT_EQ(desk.assay({"report", report}).exit_code, 0) << report;
    EXPECT_EQ(desk.assay({"show", report, "small/1x16x4x4/4W4C.4W4C"}).exit_code, 0) << report;
    EXPECT_EQ(desk.assay({"pivot", report}).exit_code, 0) << report;
    EXPECT_EQ(desk.assay({"compare", report, "other"}).exit_code, 0) << report;
  }
}

// Odd standard descriptors: closed, full, and with nobody at their other end.

using ::testing::Not;

/// The binary with these words, run by a shell that redirects as `redirection` says.
ProcessResult assay_in_shell(const std::string& words, const std::string& redirection) {
  return run({.words = {"bash", "-c", "exec \"$0\" " + words + " " + redirection, ASSAY_BINARY}});
}

TEST(Streams, ClosedOnesLeaveTheJournalAlone) {
  for (const char* redirection : {">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"}) {
    const TemporaryFolder folder;
    const std::string cases = folder.write("c.yaml", shuffle_cases), out = folder / "out";
    const ProcessResult result =
        assay_in_shell(fmt::format("run {} --mode accu --out {}", cases, out), redirection);
    EXPECT_EQ(result.exit_code, 0) << redirection << result.err;
    const RunReport report = read_journal(device_folder(out) / "journal.jsonl");
    EXPECT_TRUE(report.complete) << redirection;
    EXPECT_EQ(report.records.size(), 4U) << redirection;
  }
}

TEST(Streams, AnOutputThatDoesNotTakeWhatIsPrintedIsAnErrorOfTheInfrastructure) {
  const TemporaryFolder folder;
  const std::string cases = folder.write("c.yaml", shuffle_cases), out = folder / "out";
  ASSERT_EQ(assay({"run", cases, "--out", out}).exit_code, 0);
  for (const std::string& words :
       {"list " + cases, std::string("ops"), std::string("schema"), std::string("--help"), "report " + out,
        "pivot " + out, fmt::format("show {} small/1x16x4x4/4W4C.4W4C", out),
        fmt::format("run {} --out {}2", cases, out), fmt::format("compare {0} {0}2", out)}) {
    const ProcessResult result = assay_in_shell(words, ">/dev/full");
    EXPECT_EQ(result.exit_code, 3) << words;
    EXPECT_THAT(result.err, HasSubstr("cannot write to stdout: ")) << words;
  }
}

TEST(Streams, APipeThatNobodyReadsEndsNoRun) {
  const TemporaryFolder folder;
  const std::string cases = folder.write("c.yaml", shuffle_cases), out = folder / "out";
  const ProcessResult result =
      run({.words = {"bash", "-c", "\"$0\" run " + cases + " --out " + out + " | true; exit ${PIPESTATUS[0]}",
                     ASSAY_BINARY}});
  EXPECT_EQ(result.exit_code, 3) << result.err;
  EXPECT_TRUE(read_journal(device_folder(out) / "journal.jsonl").complete);
}

TEST(Streams, AFileThatMayNotGrowIsAnErrorThatSaysSo) {
  const TemporaryFolder folder;
  const std::string cases = folder.write("c.yaml", shuffle_cases), out = folder / "out";
  const ProcessResult result = run({.words = {"bash", "-c",
                                              "ulimit -f 1; exec \"$0\" run " + cases +
                                                  " --ceilings none --answer-cache none --out " + out,
                                              ASSAY_BINARY}});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("File too large"));
  EXPECT_THAT(result.err, Not(HasSubstr("internal error")));
}

TEST(Streams, AFileOfAnOptionMayBeADevice) {
  const TemporaryFolder folder;
  ASSERT_EQ(assay({"run", folder.write("c.yaml", shuffle_cases), "--out", folder / "out"}).exit_code, 0);
  std::filesystem::create_symlink("/dev/full", folder / "full.csv");
  const ProcessResult result = assay({"pivot", folder / "out", "--csv", folder / "full.csv"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("No space left on device"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "full.csv"));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
}

// Expectations of the device that runs the tests, and what a run reports about them.

/// A folder of cases (four that pass, one that is MISTRUSTED) with these rules for every device.
struct ExpectationsDesk {
  TemporaryFolder folder;

  explicit ExpectationsDesk(const std::string& rules) {
    folder.write("cases/c.yaml", shuffle_cases);
    folder.write("cases/flat.yaml", mistrusted_cases);
    folder.write("cases/expectations/all.yaml", "device: \"\\\\w\"\nexpect:\n" + rules);
  }
  ProcessResult run(std::vector<std::string> words) const {
    words.insert(words.begin(), {"run", "--out", folder / "out", "--overwrite"});
    return assay(std::move(words));
  }
  std::string cases() const { return folder / "cases"; }
  nlohmann::json report() const {
    return nlohmann::json::parse(read_file(device_folder(folder / "out") / "run.json"));
  }
};

constexpr const char* flat_rule =
    "  - {match: \"*/flat/*\", params: {upscale_factor: 2, shape: [1, 16, 4, 4]}, status: MISTRUSTED,\n"
    "     reason: proves nothing, link: \"https://example.org/7\"}\n";

TEST(Expectations, ARowThatEndsAsExpectedIsFine) {
  const ExpectationsDesk desk(flat_rule);
  const ProcessResult result = desk.run({desk.cases(), "--strict", "--verbose"});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("expected (proves nothing, https://example.org/7): MISTRUSTED: "));
  EXPECT_THAT(result.out, Not(HasSubstr("EXPECTATIONS")));
  EXPECT_THAT(result.err, HasSubstr("cases/expectations/all.yaml\n")) << "it is told which rules count";
  EXPECT_EQ(desk.report().at("statuses").at("EXPECTED_FAIL"), 1);
}

TEST(Expectations, AnUnexpectedPassFailsTheRun) {
  const ExpectationsDesk desk(std::string(flat_rule) + "  - {match: \"*1x16x4x4*\", reason: a bug}\n");
  const ProcessResult result = desk.run({desk.cases()});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, HasSubstr("all.yaml:5 expects FAIL (a bug); remove the rule"));
}

TEST(Expectations, AMergedRunWithANoteIsDone) {
  const ExpectationsDesk desk(std::string(flat_rule) + "  - {match: \"gone/*\", reason: a bug}\n");
  const ProcessResult part = desk.run({desk.cases(), "--shard", "1/1"});
  ASSERT_EQ(part.exit_code, 0) << part.out << part.err;
  const ProcessResult merged = assay({"merge", desk.folder / "merged", desk.folder / "out"});
  EXPECT_EQ(merged.exit_code, 0) << merged.out << merged.err;
  const RunReport report = read_journal(device_folder(desk.folder / "merged") / "journal.jsonl");
  EXPECT_TRUE(report.complete);
  EXPECT_EQ(report.run.rule_notes.size(), 1U);
}

TEST(Expectations, AnExpiredRuleDoesNotCountAndFailsAStrictRun) {
  const ExpectationsDesk desk(
      std::string(flat_rule) +
      "  - {match: \"*/small/*\", status: skip, reason: slow, expires: 2020-01-31}\n");
  const ProcessResult result = desk.run({desk.cases()});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("all.yaml:5  */small/*  (slow)\n    it expired after 2020-01-31"));
  EXPECT_EQ(desk.report().at("statuses").at("PASS"), 4);
  EXPECT_EQ(desk.run({desk.cases(), "--strict"}).exit_code, 1);
}

TEST(Expectations, AStaleRuleFailsAStrictRun) {
  const ExpectationsDesk desk(std::string(flat_rule) + "  - {match: \"gone/*\", reason: a bug}\n");
  const ProcessResult result = desk.run({desk.cases()});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("EXPECTATIONS"));
  EXPECT_THAT(result.out, HasSubstr("gone/*  (a bug)\n    it matches no row of this run: remove it"));
  EXPECT_EQ(desk.report().at("rule_notes").at(0).at("state"), "stale");
  EXPECT_EQ(desk.run({desk.cases(), "--strict"}).exit_code, 1);
  EXPECT_EQ(desk.run({desk.cases(), "--strict", "--tier", "smoke"}).exit_code, 1)
      << "it matches no case of any tier";
  const ProcessResult again = assay({"report", device_folder(desk.folder / "out").string()});
  EXPECT_THAT(again.out, HasSubstr("it matches no row of this run")) << "the journal has it too";
}

TEST(Expectations, AFileWithMistakesSaysWhatCounts) {
  const ExpectationsDesk desk(std::string(flat_rule) +
                              "  - {match: \"*/small/*\"}\n  - {match: \"*\", status: bad, reason: a bug}\n");
  const ProcessResult result = desk.run({desk.cases()});
  EXPECT_EQ(result.exit_code, 2) << result.out << result.err;
  EXPECT_THAT(result.err, HasSubstr("all.yaml:5:"));
  EXPECT_THAT(result.err, HasSubstr("\n2 errors in files of expectations; rules without an error count, and "
                                    "the exit code will be 2\n"));
  EXPECT_EQ(desk.report().at("statuses").at("EXPECTED_FAIL"), 1);
}

TEST(Expectations, MayBeKeptOutsideOfThePackage) {
  const ExpectationsDesk desk("  - {match: \"*/flat/*\", status: skip, reason: of the package}\n");
  EXPECT_EQ(desk.run({desk.cases()}).exit_code, 0);
  EXPECT_EQ(desk.report().at("statuses").at("SKIPPED"), 1);
  desk.folder.write("mine/gpu.yaml", "device: \"\\\\w\"\nexpect:\n" + std::string(flat_rule) +
                                         "  - {match: \"gone/*\", reason: a bug}\n");
  const std::string mine = desk.folder / "mine";
  const ProcessResult result = desk.run({"--expectations", mine, desk.cases(), "--strict"});
  EXPECT_EQ(result.exit_code, 1) << "one rule of them is stale";
  EXPECT_THAT(result.err, HasSubstr("expectations: " + mine + "/gpu.yaml\n"));
  EXPECT_THAT(result.out, HasSubstr("mine/gpu.yaml:5  gone/*  (a bug)\n    it matches no row of this run"));
  EXPECT_EQ(desk.report().at("statuses").at("EXPECTED_FAIL"), 1) << "they count before those of the package";
  const ProcessResult one_file =
      desk.run({"--expectations", mine, desk.folder / "cases/flat.yaml", "--strict"});
  EXPECT_EQ(one_file.exit_code, 0) << "the rule may be about cases of other files" << one_file.out;
}

TEST(Expectations, OfARunThatIsResumedMustBeTheSame) {
  const ExpectationsDesk desk(flat_rule);
  desk.folder.write("mine/gpu.yaml", "device: none\nexpect:\n  - {match: \"a/*\", reason: a bug}\n");
  const ProcessResult result = desk.run({"--expectations", desk.folder / "mine", desk.cases()});
  EXPECT_THAT(result.err, HasSubstr("mine/gpu.yaml: 'none' is not in '"))
      << "its device fits none of the run's";
  EXPECT_EQ(assay({"run", "--resume", desk.folder / "out"}).exit_code, 0);
  desk.folder.write("mine/gpu.yaml", "device: none\nexpect:\n  - {match: \"b/*\", reason: a bug}\n");
  const ProcessResult changed = assay({"run", "--resume", desk.folder / "out"});
  EXPECT_EQ(changed.exit_code, 2);
  EXPECT_THAT(changed.err, HasSubstr("the expectations have changed"));
}

TEST(Expectations, ARuleThatIsTooWideSaysToWhatItCanBeNarrowed) {
  const ExpectationsDesk desk("  - {match: \"*\", status: mistrusted, reason: proves nothing}\n");
  const ProcessResult result = desk.run({desk.cases()});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, HasSubstr("4 of its 5 rows pass, such as "));
  EXPECT_THAT(result.out, HasSubstr("narrow it "));
  EXPECT_EQ(desk.report().at("rule_notes").at(0).at("state"), "wide");
}

TEST(Expectations, ARuleOfRowsThatWereNotSelectedIsNotStale) {
  const ExpectationsDesk desk(std::string(flat_rule) + "  - {match: \"gone/*\", reason: a bug}\n");
  EXPECT_EQ(desk.run({desk.cases(), "--strict", "--filter", "*/small/*"}).exit_code, 0);
  EXPECT_EQ(desk.run({desk.folder / "cases/c.yaml", "--strict"}).exit_code, 0);
  const ExpectationsDesk fine(flat_rule);
  EXPECT_EQ(fine.run({fine.cases(), "--strict", "--tier", "smoke"}).exit_code, 0);
}

}  // namespace

}  // namespace assay::test
