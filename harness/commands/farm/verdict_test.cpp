#include "harness/commands/farm/verdict.h"

#include "harness/commands/farm/night_folder.h"
#include "harness/device/driver_name.h"
#include "harness/report/compare/row_side.h"
#include "harness/report/compare/run_noise.h"
#include "harness/report/journal/journal.h"
#include "harness/report/record/device_name.h"
#include "tests/support/error_text.h"
#include "tests/support/simulated_series.h"
#include "tests/support/tell.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <sys/stat.h>

namespace assay::app {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// A farm's folder with nights of the 1st, 2nd, ... of January.
class VerdictOfANight : public ::testing::Test {
 protected:
  static std::string night_name(int day) { return "2026-01-0" + std::to_string(day); }
  fs::path night(int day) const { return farm / night_name(day); }
  fs::path last_good(const std::string& slug) const { return farm.path() / "last-good" / slug; }

  static RunInfo run_info(int day) {
    RunInfo run = test::sample_run();
    run.run_id = "2026010" + std::to_string(day) + "T010000Z-1a2b3c";
    run.started_utc = "2026-01-0" + std::to_string(day) + "T01:00:00Z";
    return run;
  }

  /// As a run leaves it: folder, journal, link. Returns the device's folder.
  fs::path run(int day, const std::vector<Record>& records, const std::string& slug = "acme") const {
    const fs::path report = night(day) / "runs" / run_info(day).run_id / slug;
    Journal journal(report / "journal.jsonl");
    test::tell(journal, records, run_info(day));
    fs::create_directory_symlink(fs::path("runs") / run_info(day).run_id / slug, night(day) / slug);
    return report;
  }

  /// The same with the validation layer on.
  fs::path run_with_validation(int day, const std::vector<Record>& records) const {
    RunInfo validated = run_info(day);
    validated.validation = true;
    const fs::path report = night(day) / "runs" / validated.run_id / "acme";
    Journal journal(report / "journal.jsonl");
    test::tell(journal, records, validated);
    fs::create_directory_symlink(report, night(day) / "acme");
    return report;
  }

  ExitCode judge(int day, const VerdictOptions& given = {}) {
    VerdictOptions options = given;
    options.night = night(day);
    options.version = "0.1.0";
    printed.str("");
    std::ostringstream log;
    return verdict(options, {printed, log, log});
  }
  std::string text() const { return printed.str(); }

  test::TemporaryFolder farm;
  std::ostringstream printed;
};

TEST_F(VerdictOfANight, AGoodNightBecomesTheLastGoodOne) {
  const fs::path report = run(1, {test::passed("a")});
  EXPECT_EQ(judge(1), ExitCode::Fine);
  EXPECT_THAT(text(), StartsWith("GOOD: 2026-01-01, 1 of 1 device good\n"));
  EXPECT_THAT(text(), HasSubstr("  against no last good night yet\n"));
  EXPECT_TRUE(fs::equivalent(last_good("acme"), report));
  EXPECT_EQ(fs::read_symlink(last_good("acme")), fs::relative(report, farm.path() / "last-good"))
      << "relative, so that the farm's folder may move";
  EXPECT_EQ(test::read_file(night(1) / "verdict.txt"), text());
  EXPECT_THAT(test::read_file(night(1) / "nightly.json"), HasSubstr("\"verdict\": \"GOOD\""));
}

TEST_F(VerdictOfANight, MovesTheLinkAndLeavesNothingBesideIt) {
  run(1, {test::passed("a")});
  const fs::path second = run(2, {test::passed("a")});
  judge(1);
  EXPECT_EQ(judge(2), ExitCode::Fine);
  EXPECT_THAT(text(), HasSubstr("  against 20260101T010000Z-1a2b3c: 1 SAME\n"));
  EXPECT_TRUE(fs::equivalent(last_good("acme"), second));
  EXPECT_EQ(std::distance(fs::directory_iterator(farm / "last-good"), {}), 1);
}

TEST_F(VerdictOfANight, ANightThatFailedDoesNotBecomeTheLastGoodOne) {
  const fs::path first = run(1, {test::passed("a")});
  run(2, {test::failed("a")});
  judge(1);
  EXPECT_EQ(judge(2), ExitCode::Failures);
  EXPECT_THAT(
      text(),
      HasSubstr("\n  FAIL            1 of 1 row of shuffle: wrong value; new since the last good night\n"));
  EXPECT_THAT(text(), HasSubstr("\n  against 20260101T010000Z-1a2b3c: 1 BROKEN\n"));
  EXPECT_TRUE(fs::equivalent(last_good("acme"), first));
}

TEST_F(VerdictOfANight, ARegressionIsToldEveryNightUntilItIsAccepted) {
  run(1, {test::passed("a"), test::passed("b")});
  run(2, {test::passed("a")});
  const fs::path third = run(3, {test::passed("a")});
  judge(1);
  EXPECT_EQ(judge(2), ExitCode::Failures);
  EXPECT_EQ(judge(3), ExitCode::Failures) << "compared with the first night, not the second";
  EXPECT_THAT(text(), HasSubstr("\n  GONE            shuffle/b/"));
  EXPECT_EQ(judge(3, {.accepted = {"acme"}}), ExitCode::Fine);
  EXPECT_TRUE(fs::equivalent(last_good("acme"), third));
  EXPECT_EQ(judge(3), ExitCode::Fine) << "what was accepted stays so";
  EXPECT_THAT(text(), HasSubstr("1 GONE"));
}

/// Six timed rows, `times` as slow as on an idle machine.
std::vector<Record> rows_taking(double times, const std::string& program) {
  std::vector<Record> records;
  for (int i = 0; i < 6; ++i) {
    const double us = 100 * times;
    records.push_back(test::measured("row" + std::to_string(i), test::blocks({us, us, us, us, us})));
    records.back().perf->program_hash = program;
  }
  return records;
}

TEST_F(VerdictOfANight, OnAMachineThatShiftedIsNotTheLastGoodOneUntilAccepted) {
  const fs::path first = run(1, rows_taking(1, "p"));
  const fs::path second = run(2, rows_taking(1.08, "p"));
  judge(1);
  EXPECT_EQ(judge(2), ExitCode::Infrastructure);
  EXPECT_THAT(text(), HasSubstr("the machine was 1.08x slower: 6 unchanged rows"));
  EXPECT_THAT(test::read_file(night(2) / "nightly.json"), HasSubstr("\"exit_code\": 3"));
  EXPECT_TRUE(fs::equivalent(last_good("acme"), first));
  EXPECT_EQ(judge(2, {.accepted = {"acme"}}), ExitCode::Fine);
  EXPECT_TRUE(fs::equivalent(last_good("acme"), second));
}

TEST_F(VerdictOfANight, WhoseMachineMayHaveChangedDoesNotHideChangesOfPrograms) {
  const fs::path first = run(1, rows_taking(1, "p"));
  RunInfo other = run_info(2);
  other.ceilings.fp32_gops *= 0.96;
  const fs::path report = night(2) / "runs" / other.run_id / "acme";
  {
    Journal journal(report / "journal.jsonl");
    test::tell(journal, rows_taking(1.5, "q"), other);
  }
  fs::create_directory_symlink(report, night(2) / "acme");
  judge(1);
  EXPECT_EQ(judge(2), ExitCode::Fine) << "4 % is no finding";
  EXPECT_THAT(text(), HasSubstr("6 AMBIGUOUS"));
  EXPECT_THAT(text(), HasSubstr("  warning the machine may have been 1.04x slower: no unchanged rows, but"));
  EXPECT_TRUE(fs::equivalent(last_good("acme"), first)) << "the next night is compared with that one as well";
}

TEST_F(VerdictOfANight, WithTheValidationLayerOnDoesNotHideWhatBecameSlower) {
  const fs::path first = run(1, rows_taking(1, "p"));
  run_with_validation(2, rows_taking(1.4, "q"));
  run(3, rows_taking(1.4, "q"));
  judge(1);
  EXPECT_EQ(judge(2), ExitCode::Fine);
  EXPECT_THAT(text(), HasSubstr("6 SUSPECT"));
  EXPECT_THAT(text(), HasSubstr("  warning 6 of 6 timed rows could not be compared (validation layer on); "));
  EXPECT_THAT(text(), HasSubstr("  next    the last good night remains 20260101T010000Z-1a2b3c\n"));
  EXPECT_TRUE(fs::equivalent(last_good("acme"), first));
  EXPECT_EQ(judge(3), ExitCode::Failures) << "compared with the first night";
  EXPECT_THAT(text(), HasSubstr("6 SLOWER"));
}

TEST_F(VerdictOfANight, WithTheValidationLayerOnBecomesTheLastGoodOneOnceAccepted) {
  run(1, rows_taking(1, "p"));
  const fs::path second = run_with_validation(2, rows_taking(1.4, "q"));
  judge(1);
  EXPECT_EQ(judge(2, {.accepted = {"acme"}}), ExitCode::Fine);
  EXPECT_THAT(text(), HasSubstr("(validation layer on); it was accepted\n"));
  EXPECT_TRUE(fs::equivalent(last_good("acme"), second));
}

TEST_F(VerdictOfANight, ReplacesALastGoodNightWhoseTimesCannotBeTrusted) {
  run_with_validation(1, rows_taking(1.4, "p"));
  const fs::path second = run(2, rows_taking(1, "p"));
  run(3, rows_taking(1.4, "q"));
  judge(1);
  EXPECT_EQ(judge(2), ExitCode::Fine);
  EXPECT_THAT(text(), HasSubstr("  warning the last good night was timed with the validation layer on: no"));
  EXPECT_TRUE(fs::equivalent(last_good("acme"), second));
  EXPECT_EQ(judge(3), ExitCode::Failures);
  EXPECT_THAT(text(), HasSubstr("6 SLOWER"));
}

TEST_F(VerdictOfANight, IsTheLastGoodOneAlthoughTheTimesOfOneRowCannotBeTrusted) {
  run(1, rows_taking(1, "p"));
  std::vector<Record> noisy = rows_taking(1, "q");
  noisy.front().perf->suspect = "its blocks disagree";
  const fs::path second = run(2, noisy);
  std::vector<Record> useless = rows_taking(1, "r");
  for (Record& record : useless) record.perf->suspect = "their blocks disagree";
  run(3, useless);
  judge(1);
  EXPECT_EQ(judge(2), ExitCode::Fine);
  EXPECT_THAT(text(), HasSubstr("5 SAME, 1 SUSPECT"));
  EXPECT_THAT(text(), Not(HasSubstr("could not be compared")));
  EXPECT_TRUE(fs::equivalent(last_good("acme"), second));
  EXPECT_EQ(judge(3), ExitCode::Fine);
  EXPECT_THAT(text(), HasSubstr("5 of 5 timed rows could not be compared (their times are SUSPECT);"));
  EXPECT_TRUE(fs::equivalent(last_good("acme"), second));
}

TEST_F(VerdictOfANight, AcceptsSingleRowsByTheirIds) {
  run(1, {test::passed("a"), test::passed("b1"), test::passed("b2")});
  const fs::path second = run(2, {test::passed("a")});
  judge(1);
  EXPECT_EQ(judge(2), ExitCode::Failures);
  EXPECT_EQ(judge(2, {.accepted = {"*/b1/*"}}), ExitCode::Failures);
  EXPECT_THAT(text(), HasSubstr("1 row worse than in the last good night\n\n"));
  EXPECT_THAT(text(), HasSubstr("  worse   1 row whose change was accepted\n"));
  EXPECT_THAT(text(), HasSubstr("\n  GONE            shuffle/b2/"));
  EXPECT_THAT(text(), Not(HasSubstr("\n  GONE            shuffle/b1/")));
  const fs::path first = fs::canonical(last_good("acme"));
  EXPECT_FALSE(fs::equivalent(first, second));
  EXPECT_EQ(judge(2, {.accepted = {"*/b2/*"}}), ExitCode::Fine) << "what was accepted before stays so";
  EXPECT_TRUE(fs::equivalent(last_good("acme"), second));
  EXPECT_EQ(judge(2), ExitCode::Fine);
}

/// Six rows of an unchanged program, and the seventh, of another one each night, `times` as slow.
std::vector<Record> with_one_row_taking(double times, const std::string& program) {
  std::vector<Record> records = rows_taking(1, "p");
  const double us = 100 * times;
  records.push_back(test::measured("changing", test::blocks({us, us, us, us, us})));
  records.back().perf->program_hash = program;
  return records;
}

/// A night that is not good for another reason: a row that failed.
std::vector<Record> with_a_failure(std::vector<Record> records) {
  records.push_back(test::failed("other"));
  return records;
}

TEST_F(VerdictOfANight, AnAcceptedRowIsNotReportedAgainUntilItChangesAgain) {
  run(1, with_one_row_taking(1, "a"));
  run(2, with_a_failure(with_one_row_taking(1.5, "b")));
  run(3, with_a_failure(with_one_row_taking(1.51, "b")));
  run(4, with_a_failure(with_one_row_taking(1.6, "c")));
  judge(1);
  EXPECT_EQ(judge(2, {.accepted = {"*/changing/*"}}), ExitCode::Failures);
  EXPECT_EQ(judge(3), ExitCode::Failures);
  EXPECT_THAT(text(), Not(HasSubstr("worse than in the last good night")));
  EXPECT_THAT(text(), HasSubstr("  worse   1 row whose change was accepted in an earlier night\n"));
  EXPECT_EQ(judge(4), ExitCode::Failures);
  EXPECT_THAT(text(), HasSubstr("1 row worse than in the last good night"));
  EXPECT_THAT(text(), HasSubstr("changed again: 1.50x was accepted in 2026-01-02\n"));
  judge(4, {.accepted = {"*/changing/*"}});
  run(5, with_one_row_taking(1.6, "c"));
  EXPECT_EQ(judge(5), ExitCode::Fine);
  EXPECT_THAT(text(), HasSubstr("it becomes the last good night, as accepted"));
}

TEST_F(VerdictOfANight, ARowThatWasRightAgainIsReportedWhenItIsWorseAgain) {
  run(1, with_one_row_taking(1, "a"));
  run(2, with_a_failure(with_one_row_taking(1.5, "b")));
  run(3, with_a_failure(with_one_row_taking(1, "a")));
  run(4, with_a_failure(with_one_row_taking(1.5, "b")));
  judge(1);
  judge(2, {.accepted = {"*/changing/*"}});
  judge(3);
  judge(4);
  EXPECT_THAT(text(), HasSubstr("1 row worse than in the last good night"));
}

TEST_F(VerdictOfANight, AnAcceptedRowStaysAcceptedOverANightThatLostIt) {
  run(1, with_one_row_taking(1, "a"));
  run(2, with_a_failure(with_one_row_taking(1.5, "b")));
  std::vector<Record> lost = with_one_row_taking(1.5, "b");
  lost.back().status = Status::Missing;
  lost.back().perf.reset();
  run(3, lost);
  run(4, with_one_row_taking(1.5, "b"));
  judge(1);
  judge(2, {.accepted = {"*/changing/*"}});
  EXPECT_EQ(judge(3), ExitCode::Infrastructure);
  EXPECT_EQ(judge(4), ExitCode::Fine);
}

TEST_F(VerdictOfANight, AKnownFailureIsNoRegression) {
  Record known = test::failed("b");
  known.status = Status::ExpectedFail;
  run(1, {test::passed("a"), test::passed("b")});
  run(2, {test::passed("a"), known});
  judge(1);
  EXPECT_EQ(judge(2), ExitCode::Fine);
  EXPECT_THAT(text(), HasSubstr("2: 1 PASS, 1 EXPECTED_FAIL\n"));
}

TEST_F(VerdictOfANight, IsGivenAgainByOtherRules) {
  run(1, {test::passed("a"), test::failed("b")});
  EXPECT_EQ(judge(1), ExitCode::Failures);
  const fs::path rules = farm.path() / "rules";
  farm.write("rules/gpu.yaml", "device: \"\\\\w\"\nexpect:\n  - {match: \"*/b/*\", reason: a bug}\n");
  EXPECT_EQ(judge(1, {.expectations = {rules}}), ExitCode::Fine);
  EXPECT_THAT(text(), HasSubstr("1 PASS, 1 EXPECTED_FAIL"));
  EXPECT_TRUE(fs::exists(last_good("acme")));
  farm.write("rules/gpu.yaml",
             "device: \"\\\\w\"\nexpect:\n  - {match: \"*/b/*\", metric: unwritten, reason: r}\n");
  EXPECT_EQ(judge(1, {.expectations = {rules}}), ExitCode::Failures) << "it is a wrong value";
  farm.write("rules/gpu.yaml", "device: \"\\\\w\"\nexpect:\n  - {match: \"*\"}\n");
  EXPECT_THAT(test::error_of([&] { judge(1, {.expectations = {rules}}); }),
              HasSubstr("'reason' is missing here"));
}

TEST_F(VerdictOfANight, SaidTwiceIsTheSame) {
  run(1, {test::passed("a")});
  run(2, {test::passed("a"), test::passed("b")});
  judge(1);
  judge(2);
  const std::string first = text();
  judge(2);
  EXPECT_EQ(text().substr(0, text().find("  disk ")), first.substr(0, first.find("  disk ")));
  EXPECT_THAT(text(), HasSubstr("1 SAME, 1 NEW"));
}

TEST_F(VerdictOfANight, OfAnEarlierNightMovesNoLinkBack) {
  run(1, {test::passed("a")});
  const fs::path second = run(2, {test::passed("a")});
  judge(2);
  EXPECT_EQ(judge(1), ExitCode::Fine);
  EXPECT_THAT(text(), HasSubstr("the last good night is a later one, 20260102T010000Z-1a2b3c"));
  EXPECT_TRUE(fs::equivalent(last_good("acme"), second));
}

TEST_F(VerdictOfANight, OfANightThatWasConcludedAgainIsHeldAgainstTheSame) {
  run(1, {test::passed("a")});
  run(2, {test::passed("a")});
  judge(1);
  judge(2);
  // As merging its shards once more does: another run in the same night.
  RunInfo again = run_info(2);
  again.run_id = "20260102T020000Z-1a2b3c";
  const fs::path report = night(2) / "runs" / again.run_id / "acme";
  {
    Journal journal(report / "journal.jsonl");
    test::tell(journal, {test::passed("a"), test::passed("b")}, again);
  }
  move_link(night(2) / "acme", report);
  EXPECT_EQ(judge(2), ExitCode::Fine);
  EXPECT_THAT(text(), HasSubstr("  against 20260101T010000Z-1a2b3c: 1 SAME, 1 NEW\n"));
  EXPECT_TRUE(fs::equivalent(last_good("acme"), report));
}

TEST_F(VerdictOfANight, SaysThatARunIsNotOver) {
  const fs::path journal = run(1, {test::passed("a")}) / "journal.jsonl";
  const std::string events = test::read_file(journal);
  test::write_file(journal, events.substr(0, events.rfind(R"({"event":"done")")));
  const Journal running(journal, true);
  EXPECT_EQ(judge(1), ExitCode::Infrastructure);
  EXPECT_THAT(text(), HasSubstr("problem the run has not ended\n"));
}

TEST_F(VerdictOfANight, KeepsTheLinksWhenAsked) {
  run(1, {test::passed("a")});
  EXPECT_EQ(judge(1, {.kept_links = {"all"}}), ExitCode::Fine);
  EXPECT_FALSE(fs::exists(farm / "last-good"));
}

TEST_F(VerdictOfANight, KeepsTheLinksOfTheDevicesThatAreNamed) {
  run(1, {test::passed("a")});
  EXPECT_EQ(
      test::error_of([&] { judge(1, {.kept_links = {"other"}}); }),
      "keeping links of last-good: the night has no device 'other'; known to --keep-last-good: all, acme");
  EXPECT_EQ(judge(1), ExitCode::Fine);
  run(2, {test::passed("a")});
  EXPECT_EQ(judge(2, {.kept_links = {"acme"}}), ExitCode::Fine);
  EXPECT_THAT(fs::canonical(last_good("acme")).string(), HasSubstr(night_name(1)));
}

TEST_F(VerdictOfANight, TakesALinkToTheNight) {
  run(1, {test::passed("a")});
  fs::create_directory_symlink(night_name(1), farm / "latest");
  std::ostringstream out;
  EXPECT_EQ(verdict({.night = farm / "latest"}, {out, out, out}), ExitCode::Fine);
  EXPECT_THAT(out.str(), StartsWith("GOOD: 2026-01-01,"));
  EXPECT_TRUE(fs::exists(last_good("acme")));
}

// ---- infrastructure

TEST_F(VerdictOfANight, ADeviceThatIsNotThereTonightIsMissed) {
  run(1, {test::passed("a")}, "acme");
  run(1, {test::passed("a")}, "other");
  run(2, {test::passed("a")}, "acme");
  judge(1);
  EXPECT_EQ(judge(2), ExitCode::Infrastructure);
  EXPECT_THAT(text(), HasSubstr("\nINFRASTRUCTURE  other\n"));
  EXPECT_THAT(text(), HasSubstr("problem no report tonight, although it had a good night in\n"));
  EXPECT_THAT(text(), HasSubstr("\nGOOD  acme\n"));
  fs::remove(last_good("other"));
  EXPECT_EQ(judge(2), ExitCode::Fine) << "it was taken off the farm";
}

TEST_F(VerdictOfANight, AnExpectedDeviceIsMissedInItsFirstNightToo) {
  run(1, {test::passed("a")});
  EXPECT_EQ(judge(1, {.expected = {"acme"}}), ExitCode::Fine);
  EXPECT_EQ(judge(1, {.expected = {"acme", "new-one"}}), ExitCode::Infrastructure);
  EXPECT_THAT(text(), HasSubstr("\nINFRASTRUCTURE  new-one\n"
                                "  problem no report tonight, although --expect-slug asks for one\n"));
  test::write_file(night(1) / "plan", "");
  judge(1, {.expected = {"acme", "new-one"}});
  EXPECT_THAT(text(), HasSubstr("; if the night was ended early"));
  EXPECT_THAT(text(), HasSubstr(night(1).string() + "`\n"));
}

TEST_F(VerdictOfANight, DamageOfOneDeviceHidesNoOther) {
  run(1, {test::passed("a")}, "good");
  test::write_file(run(1, {test::passed("a")}, "empty") / "journal.jsonl", "");
  test::write_file(run(1, {test::passed("a")}, "garbage") / "journal.jsonl", "{]\n{]\n");
  fs::remove(run(1, {test::passed("a")}, "gutted") / "journal.jsonl");
  fs::remove_all(run(1, {test::passed("a")}, "removed"));
  fs::create_directory_symlink("loop", night(1) / "loop");
  farm.write("2026-01-01/shards/unmerged/1/journal.jsonl", "{}\n");
  EXPECT_EQ(judge(1), ExitCode::Infrastructure);
  EXPECT_THAT(text(), HasSubstr(", 1 of 7 devices good"));
  EXPECT_THAT(text(), HasSubstr("\nGOOD  good\n"));
  for (const char* slug : {"empty", "garbage", "gutted", "removed", "loop", "unmerged"})
    EXPECT_THAT(text(), HasSubstr("\nINFRASTRUCTURE  " + std::string(slug) + "\n  problem"));
  EXPECT_THAT(text(), HasSubstr("no report was merged from them"));
  EXPECT_TRUE(fs::exists(last_good("good")));
}

TEST_F(VerdictOfANight, ARunThatDidNotFinishIsNotGood) {
  const fs::path journal = run(1, {test::passed("a")}) / "journal.jsonl";
  std::string events = test::read_file(journal);
  test::write_file(journal, events.substr(0, events.rfind(R"({"event":"done")")));
  EXPECT_EQ(judge(1), ExitCode::Infrastructure);
  EXPECT_THAT(text(), HasSubstr("problem the run did not finish; run the rest with `assay run --resume\n"));
  EXPECT_THAT(text(), HasSubstr(journal.parent_path().string() + "`\n"));
  test::write_file(night(1) / "plan", "");
  judge(1);
  EXPECT_THAT(text(), HasSubstr("problem the run did not finish; run the rest with `nightly.sh --resume\n"));
  EXPECT_THAT(text(), HasSubstr(night(1).string() + "`\n"));
  EXPECT_FALSE(fs::exists(last_good("acme")));
}

TEST_F(VerdictOfANight, FindsARunThatNoLinkNames) {
  run(1, {test::passed("a")});
  fs::remove(night(1) / "acme");
  EXPECT_EQ(judge(1), ExitCode::Fine);
  EXPECT_THAT(text(), HasSubstr("\nGOOD  acme\n"));
}

TEST_F(VerdictOfANight, ADamagedLastGoodNightIsAWarningAndTheOneBeforeItIsTaken) {
  run(1, {test::passed("a")});
  const fs::path second = run(2, {test::passed("a"), test::passed("b")});
  const fs::path third = run(3, {test::passed("a")});
  const fs::path fourth = run(4, {test::passed("a")});
  for (const int day : {1, 2}) EXPECT_EQ(judge(day), ExitCode::Fine);
  EXPECT_EQ(judge(3), ExitCode::Failures) << "b is gone";
  test::write_file(second / "journal.jsonl", "{]\n{]\n");
  EXPECT_EQ(judge(4), ExitCode::Fine);
  EXPECT_THAT(text(), HasSubstr("GOOD: 2026-01-04, 1 of 1 device good\n"));
  EXPECT_THAT(text(), HasSubstr("\n  warning its last good night cannot be read"));
  EXPECT_THAT(text(), HasSubstr((second / "journal.jsonl").string() + ":1: "));
  EXPECT_THAT(text(), HasSubstr("\n  against 20260101T010000Z-1a2b3c: 1 SAME\n"))
      << "the third night was not good";
  EXPECT_TRUE(fs::equivalent(last_good("acme"), fourth));
  EXPECT_THAT(test::read_file(night(4) / "nightly.json"), HasSubstr("\"warnings\": [\n"));
  EXPECT_EQ(judge(4), ExitCode::Fine);
  EXPECT_THAT(text(), HasSubstr("\n  against 20260101T010000Z-1a2b3c: 1 SAME\n")) << "again with the same";
}

TEST_F(VerdictOfANight, TakesNoNightlyJsonThatIsNoRegularFileOrTooLarge) {
  const fs::path first = run(1, {test::passed("a")});
  run(2, {test::passed("a")});
  judge(1);
  test::write_file(first / "journal.jsonl", "{]\n");  // so that the other nights are read
  fs::remove(night(1) / "nightly.json");
  ASSERT_EQ(::mkfifo((night(1) / "nightly.json").c_str(), 0600), 0) << "there is no writer to wait for";
  test::write_file(night(2) / "nightly.json", "");
  fs::resize_file(night(2) / "nightly.json", std::uintmax_t{1} << 40);
  EXPECT_EQ(judge(2), ExitCode::Fine);
  EXPECT_THAT(test::read_file(night(2) / "nightly.json"), HasSubstr("\"verdict\": \"GOOD\""));
}

TEST_F(VerdictOfANight, ARegressionIsFoundAlthoughTheLastGoodNightIsDamaged) {
  run(1, {test::passed("a"), test::passed("b")});
  const fs::path second = run(2, {test::passed("a"), test::passed("b")});
  run(3, {test::passed("a")});
  judge(1);
  judge(2);
  fs::remove_all(second);
  EXPECT_EQ(judge(3), ExitCode::Failures);
  EXPECT_THAT(text(), HasSubstr("is dangling"));
  EXPECT_THAT(text(), HasSubstr("\n  GONE            shuffle/b/"));
}

TEST_F(VerdictOfANight, WithoutAnotherGoodNightADamagedOneIsReplacedByTheNext) {
  const fs::path first = run(1, {test::passed("a")});
  const fs::path second = run(2, {test::passed("a")});
  judge(1);
  test::write_file(first / "journal.jsonl", "{]\n");
  EXPECT_EQ(judge(2), ExitCode::Fine);
  EXPECT_THAT(text(), HasSubstr("warning its last good night cannot be read"));
  EXPECT_THAT(text(), HasSubstr("against nothing: no other good night before this one can be read\n"));
  EXPECT_TRUE(fs::equivalent(last_good("acme"), second));
}

TEST_F(VerdictOfANight, OfAnEarlierNightMovesNoLinkBackWhenALaterOneIsDamaged) {
  run(1, {test::passed("a")});
  run(2, {test::passed("a")});
  const fs::path third = run(3, {test::passed("a")});
  for (const int day : {2, 3}) judge(day);
  test::write_file(third / "journal.jsonl", "{]\n{]\n");
  EXPECT_EQ(judge(1), ExitCode::Fine);
  EXPECT_TRUE(fs::equivalent(last_good("acme"), third));
}

TEST_F(VerdictOfANight, ALastGoodNightOfOtherRowsIsAProblem) {
  run(1, {test::passed("a")});
  run(2, {test::passed("b")});
  judge(1);
  EXPECT_EQ(judge(2), ExitCode::Infrastructure);
  EXPECT_THAT(text(), HasSubstr("its last good night cannot be compared with:"));
  fs::remove(last_good("acme"));
  EXPECT_EQ(judge(2), ExitCode::Fine);
}

TEST_F(VerdictOfANight, ARobustNightIsNotComparedWithOthersAndSaysWhy) {
  const fs::path first = run(1, rows_taking(1, "p"));
  RunInfo robust = run_info(2);
  robust.robust_access = true;
  const fs::path report = night(2) / "runs" / robust.run_id / "acme";
  {
    Journal journal(report / "journal.jsonl");
    test::tell(journal, rows_taking(2, "p"), robust);
  }
  fs::create_directory_symlink(report, night(2) / "acme");
  judge(1);
  EXPECT_EQ(judge(2), ExitCode::Infrastructure);
  EXPECT_THAT(text(), HasSubstr("(--robust-access)"));
  EXPECT_THAT(text(), Not(HasSubstr("SLOWER")));
  EXPECT_TRUE(fs::equivalent(last_good("acme"), first));
  run(3, rows_taking(1, "p"));
  EXPECT_EQ(judge(3), ExitCode::Fine) << "compared with the first night";
  EXPECT_THAT(text(), HasSubstr("6 SAME"));
}

TEST_F(VerdictOfANight, ALinkThatCannotBeMovedIsAProblem) {
  run(1, {test::passed("a")});
  farm.write("last-good/acme/notes.txt", "mine");
  EXPECT_EQ(judge(1), ExitCode::Infrastructure);
  EXPECT_EQ(farm.read("last-good/acme/notes.txt"), "mine");
  EXPECT_THAT(text(), HasSubstr("problem"));
}

TEST_F(VerdictOfANight, OfNoReportAtAllIsInfrastructure) {
  fs::create_directory(night(1));
  EXPECT_EQ(judge(1), ExitCode::Infrastructure);
  EXPECT_THAT(text(), HasSubstr("no device has a report in"));
}

TEST_F(VerdictOfANight, AFolderThatIsNoNightKeepsItsFiles) {
  for (const std::string name : {"verdict.txt", "nightly.json"}) {
    fs::create_directory(night(1));
    farm.write(night_name(1) + "/" + name, "{\"mine\": 1}");
    EXPECT_THAT(test::error_of([&] { judge(1); }),
                HasSubstr("is no night: it has no report and no runs/, and its " + name));
    EXPECT_EQ(farm.read(night_name(1) + "/" + name), "{\"mine\": 1}");
    fs::remove_all(night(1));
  }
  fs::create_directory(night(1));
  EXPECT_EQ(judge(1), ExitCode::Infrastructure);
  EXPECT_EQ(judge(1), ExitCode::Infrastructure) << "a night without a report, again";
}

TEST_F(VerdictOfANight, LooksAtNothingElseInTheFolder) {
  run(1, {test::passed("a")});
  test::write_file(night(1) / "console.txt", "text");
  fs::create_symlink("console.txt", night(1) / "log");
  farm.write("2026-01-01/notes of mine/x.txt", "text");
  farm.write("2026-01-01/scratch/acme/journal.jsonl", "{}\n");
  EXPECT_EQ(judge(1), ExitCode::Fine);
  EXPECT_THAT(text(), HasSubstr("1 of 1 device good"));
}

// ---- what two runs differ by

TEST_F(VerdictOfANight, TakesDifferencesUpTo3PercentForNoiseUnlessLessIsKnown) {
  const auto slow_by = [](double pct) {
    const double us = 100 + pct;
    return test::measured("a", test::blocks({us, us + 0.01, us, us - 0.01, us, us}));
  };
  run(1, {slow_by(0)});
  run(2, {slow_by(2)});
  judge(1);
  EXPECT_EQ(judge(2, {.kept_links = {"all"}}), ExitCode::Fine);
  const RunInfo device = run_info(1);
  std::vector<RunPair> pairs(3, {.device = device.device.name,
                                 .device_key = device_key(device),
                                 .driver = driver_of(device.device),
                                 .rows = 50});
  const fs::path noise = farm.write("noise.csv", run_noise_csv(pairs));
  EXPECT_EQ(judge(2, {.run_noise = noise}), ExitCode::Failures);
  EXPECT_THAT(text(), HasSubstr("SLOWER"));
}

// ---- usage

TEST_F(VerdictOfANight, RefusesWhatCannotBeMeant) {
  run(1, {test::passed("a")});
  const auto refusal = [&](const VerdictOptions& options) {
    try {
      std::ostringstream out;
      static_cast<void>(verdict(options, {out, out, out}));
      return std::string("nothing was refused");
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::Usage);
      return std::string(error.what());
    }
  };
  EXPECT_THAT(refusal({.night = farm / "nowhere"}), HasSubstr("cannot be found"));
  EXPECT_THAT(refusal({.night = farm.write("file", "text")}), HasSubstr("is not a folder"));
  EXPECT_THAT(
      refusal({.night = night(1), .accepted = {"acne"}}),
      HasSubstr("the night has no device 'acne', and no row with the id 'acne' is worse than in a last "
                "good night; known to --accept: all, acme, and the ids of rows that are worse"));
  EXPECT_THAT(refusal({.night = night(1), .fail_on = "slow"}), HasSubstr("'slow' is not a verdict"));
  EXPECT_FALSE(fs::exists(night(1) / "nightly.json"));
}

}  // namespace
}  // namespace assay::app
