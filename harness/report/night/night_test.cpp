#include "harness/report/night/night.h"

#include "harness/base/text.h"
#include "tests/support/simulated_series.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <sstream>

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

DeviceNight device_of(const std::vector<Record>& records, const std::string& slug = "acme") {
  return {.slug = slug,
          .report = "runs/20260102T030405Z-1a2b3c/" + slug,
          .run = digest_of(test::report_of(records)),
          .failing = {Verdict::Slower, Verdict::Broken, Verdict::Gone},
          .duration_s = 725,
          .bytes = 1'200'000};
}

/// The same, with a last good night whose rows were `before`.
DeviceNight compared(const std::vector<Record>& before, const std::vector<Record>& now) {
  RunReport base = test::report_of(before);
  base.run.run_id = "20260101T030405Z-aaaaaa";
  DeviceNight device = device_of(now);
  device.last_good = LastGood{"../2026-01-01/runs/20260101T030405Z-aaaaaa/acme",
                              digest_of(compare_runs({base}, {test::report_of(now)}))};
  device.run = digest_of(test::report_of(now), &base);
  return device;
}

Night night_of(std::vector<DeviceNight> devices) {
  return {.name = "2026-01-02T010000Z",
          .version = "0.1.0",
          .when = "2026-01-02T06:00:00Z",
          .devices = std::move(devices),
          .bytes = 3'400'000,
          .free_bytes = 5'000'000'000};
}

NightVerdict verdict_on(Status status) {
  return device_of({test::passed("good"), test::without_answer("one", status, "because")}).verdict();
}

TEST(NightVerdict, IsTheWorstThatAStatusSays) {
  for (int i = 0; i <= static_cast<int>(Status::Interrupted); ++i) {
    const auto status = static_cast<Status>(i);
    const StatusClass kind = class_of(status);
    EXPECT_EQ(verdict_on(status), kind == StatusClass::Fine      ? NightVerdict::Good
                                  : kind == StatusClass::Failing ? NightVerdict::Failures
                                                                 : NightVerdict::Infrastructure)
        << name_of(status);
  }
}

TEST(NightVerdict, OfADeviceThatJudgedNothingIsNotGood) {
  const DeviceNight idle = device_of({test::without_answer("one", Status::Unsupported, "no int8")});
  EXPECT_EQ(idle.verdict(), NightVerdict::NothingJudged);
  EXPECT_EQ(device_of({test::without_answer("one", Status::ExpectedFail, "known")}).verdict(),
            NightVerdict::Good);
}

TEST(NightVerdict, OfARunThatDidNotFinishIsInfrastructure) {
  DeviceNight device = device_of({test::passed("good")});
  device.run->complete = false;
  EXPECT_EQ(device.verdict(), NightVerdict::Infrastructure);
}

TEST(NightVerdict, WithoutAReportIsInfrastructure) {
  EXPECT_EQ(DeviceNight{.slug = "acme"}.verdict(), NightVerdict::Infrastructure);
}

TEST(NightVerdict, OfStrictNotesIsAFailure) {
  DeviceNight device = device_of({test::passed("good")});
  device.has_strict_notes = true;
  EXPECT_EQ(device.verdict(), NightVerdict::Failures);
}

TEST(NightVerdict, StoresTheNotesThatStrictMakesAFailure) {
  DeviceNight device = device_of({test::passed("good")});
  device.run->run.rule_notes = {{"stale", {"rules/gpu.yaml", 3, 5}, "op/*", "a bug", "remove it"}};
  EXPECT_EQ(github_markdown(night_summary(night_of({device}))).find("stale"), std::string::npos);
  device.has_strict_notes = true;
  const auto json = nlohmann::json::parse(night_json(night_of({device}))).at("devices").at(0);
  EXPECT_EQ(json.at("strict_failure"), true);
  const auto& rule = json.at("rules_to_review").at(0);
  EXPECT_EQ(rule.at("state"), "stale");
  EXPECT_EQ(rule.at("file"), "rules/gpu.yaml");
  EXPECT_EQ(rule.at("line"), 3);
  EXPECT_EQ(rule.at("match"), "op/*");
  EXPECT_EQ(rule.at("reason"), "a bug");
  EXPECT_EQ(rule.at("note"), "remove it");
  EXPECT_THAT(github_markdown(night_summary(night_of({device}))),
              HasSubstr("\n- rules/gpu.yaml:3: stale 'op/"));
}

/// A night with five rows of unchanged programs, or none, and one of another, on a machine that takes `times`
/// as long.
DeviceNight on_shifted_machine(double times, double changed_times, bool has_unchanged_rows = true) {
  const auto rows = [&](double unchanged, double changed, const std::string& program) {
    std::vector<Record> records;
    for (int i = 0; i < 6; ++i) {
      const double us = 100 * (i < 5 ? unchanged : changed);
      records.push_back(test::measured("row" + std::to_string(i), test::blocks({us, us, us, us, us})));
      records.back().perf->program_hash = i < 5 && has_unchanged_rows ? "p" : program;
    }
    return records;
  };
  return compared(rows(1, 1, "old"), rows(times, changed_times, "new"));
}

TEST(NightVerdict, OfAMachineThatShiftedIsInfrastructureUntilItIsAccepted) {
  DeviceNight device = on_shifted_machine(1.08, 1.08);
  EXPECT_EQ(device.regressions(), 0U) << "the program is as fast as the machine lets it be";
  EXPECT_TRUE(device.has_shifted());
  EXPECT_EQ(device.verdict(), NightVerdict::Infrastructure);
  EXPECT_EQ(exit_code(night_of({device}).verdict()), ExitCode::Infrastructure);
  const std::string text = night_text(night_of({device}));
  EXPECT_THAT(text,
              StartsWith("INFRASTRUCTURE: 2026-01-02T010000Z, 0 of 1 device good, the machine was 1.08x "
                         "slower: 5 unchanged rows\n"));
  EXPECT_THAT(text,
              HasSubstr("  problem the machine was 1.08x slower: 5 unchanged rows (1.08x to 1.08x), since"));
  EXPECT_THAT(text, HasSubstr("--accept acme"));
  const auto json = nlohmann::json::parse(night_json(night_of({device}))).at("devices").at(0);
  EXPECT_EQ(json.at("verdict"), "INFRASTRUCTURE");
  EXPECT_THAT(json.at("problems").at(0).get<std::string>(), StartsWith("the machine was 1.08x slower: 5"));
  EXPECT_EQ(json.at("comparison").at("machine").at("shift"), "measured");
  EXPECT_EQ(json.at("comparison").at("machine").at("finding"), true);
  EXPECT_NEAR(json.at("comparison").at("machine").at("ratio"), 1.08, 1e-9);
  EXPECT_THAT(night_summary(night_of({device})).devices.at(0).notes.at(0),
              StartsWith("the machine was 1.08x"));
  device.is_accepted = true;
  EXPECT_EQ(device.verdict(), NightVerdict::Good);
  EXPECT_THAT(night_text(night_of({device})), HasSubstr("  warning the machine was 1.08x slower"));
}

TEST(NightVerdict, OfASmallShiftIsGoodButSaysIt) {
  const DeviceNight device = on_shifted_machine(1.04, 1.04);
  EXPECT_EQ(device.verdict(), NightVerdict::Good);
  EXPECT_THAT(night_text(night_of({device})),
              HasSubstr("GOOD: 2026-01-02T010000Z, 1 of 1 device good, the machine"));
  EXPECT_EQ(on_shifted_machine(1.02, 1.02).shift(), nullptr);
}

TEST(NightVerdict, OfAShiftedMachineStillTellsWhatIsSlowerThanThat) {
  const DeviceNight device = on_shifted_machine(2, 2.4);
  EXPECT_EQ(device.regressions(), 1U);
  EXPECT_EQ(device.verdict(), NightVerdict::Infrastructure);
  EXPECT_THAT(night_text(night_of({device})),
              HasSubstr("100.00 -> 240.00 us, 2.4x, without the machine's shift 1.20x (1.20 .. 1.20)"));
  const auto json = nlohmann::json::parse(night_json(night_of({device}))).at("devices").at(0);
  EXPECT_NEAR(json.at("comparison").at("rows").at(0).at("net_ratio"), 1.2, 1e-9);
}

/// Four timed rows; the times of the first `suspects` of them cannot be trusted.
std::vector<Record> four_times(int suspects) {
  std::vector<Record> records;
  for (int i = 0; i < 4; ++i) {
    records.push_back(test::measured("row" + std::to_string(i), test::blocks({100, 100, 100, 100, 100})));
    if (i < suspects) records.back().perf->suspect = "its blocks disagree";
  }
  return records;
}

TEST(NightVerdict, SaysThatMostTimesCouldNotBeCompared) {
  EXPECT_FALSE(compared(four_times(0), four_times(2)).has_lost_times()) << "half of them were";
  EXPECT_FALSE(compared(four_times(3), four_times(4)).has_lost_times()) << "there is little to lose";
  EXPECT_EQ(compared(four_times(2), four_times(2)).last_good->comparison.trusted_before, 2U);
  DeviceNight device = compared(four_times(1), four_times(3));
  EXPECT_TRUE(device.has_lost_times());
  EXPECT_EQ(device.verdict(), NightVerdict::Good);
  const auto warnings = [&] {
    return nlohmann::json::parse(night_json(night_of({device}))).at("devices").at(0).at("warnings").dump();
  };
  EXPECT_THAT(warnings(), HasSubstr("2 of 3 timed rows could not be compared (their times are SUSPECT); the "
                                    "last good night stays"));
  EXPECT_THAT(warnings(), HasSubstr("--accept acme"));
  device.run->run.validation = true;
  EXPECT_THAT(warnings(), HasSubstr("3 of 3 timed rows could not be compared (validation layer on); "));
  device.is_accepted = true;
  EXPECT_THAT(warnings(), HasSubstr("(validation layer on); it was accepted"));
}

TEST(NightVerdict, SaysThatTheTimesOfTheLastGoodNightCannotBeTrusted) {
  DeviceNight device = compared(four_times(4), four_times(0));
  EXPECT_TRUE(device.last_good->comparison.has_untrusted_base());
  EXPECT_FALSE(device.has_lost_times());
  device.last_good->comparison.base.validation = true;
  EXPECT_THAT(night_text(night_of({device})),
              HasSubstr("  warning the last good night was timed with the validation layer on: no"));
  device.run->run.validation = true;
  EXPECT_THAT(night_text(night_of({device})), Not(HasSubstr("  warning "))) << "this one was, too";
}

/// As after an update of the driver, which has timestamps now.
TEST(NightVerdict, OfAnotherClockIsNotOfTimesThatCannotBeTrusted) {
  std::vector<Record> before = four_times(0);
  for (Record& record : before) record.perf->clock = "wall";
  const DeviceNight device = compared(before, four_times(0));
  EXPECT_EQ(device.last_good->comparison.totals.at(Verdict::Suspect), 4U);
  EXPECT_FALSE(device.has_lost_times()) << "the next night would be so, too, and every other";
}

TEST(NightVerdict, WithTheValidationLayerOnIsLessThanATimeThatCanBeTrusted) {
  DeviceNight device = compared(four_times(3), four_times(0));
  device.run->run.validation = true;
  EXPECT_TRUE(device.has_lost_times()) << "one of the four times before could be trusted";
  EXPECT_THAT(night_text(night_of({device})), HasSubstr("1 of 1 timed rows could not be compared"));
}

TEST(NightVerdict, OfARowThatIsGoneIsARegressionUntilItIsAccepted) {
  DeviceNight device = compared({test::passed("a"), test::passed("b")}, {test::passed("a")});
  EXPECT_EQ(device.regressions(), 1U);
  EXPECT_EQ(device.verdict(), NightVerdict::Regressions);
  device.is_accepted = true;
  EXPECT_EQ(device.verdict(), NightVerdict::Good);
  device.is_accepted = false;
  device.failing = {Verdict::Slower};
  EXPECT_EQ(device.verdict(), NightVerdict::Good) << "GONE is no regression where it is not named";
}

TEST(NightVerdict, AcceptsNoFailure) {
  DeviceNight device = compared({test::passed("a")}, {test::failed("a")});
  device.is_accepted = true;
  EXPECT_EQ(device.verdict(), NightVerdict::Failures);
}

TEST(NightVerdict, OfTheNightIsTheWorstOfItsDevices) {
  const DeviceNight good = device_of({test::passed("a")}), failed = device_of({test::failed("a")});
  EXPECT_EQ(night_of({good}).verdict(), NightVerdict::Good);
  EXPECT_EQ(night_of({good, failed}).verdict(), NightVerdict::Failures);
  EXPECT_EQ(night_of({failed, DeviceNight{.slug = "lost"}, good}).verdict(), NightVerdict::Infrastructure);
  EXPECT_EQ(night_of({}).verdict(), NightVerdict::Infrastructure) << "no device has a report";
  Night night = night_of({good});
  night.problems = {"the folder cannot be read"};
  EXPECT_EQ(night.verdict(), NightVerdict::Infrastructure);
}

TEST(NightVerdict, HasTheExitCodesOfARun) {
  EXPECT_EQ(exit_code(NightVerdict::Good), ExitCode::Fine);
  EXPECT_EQ(exit_code(NightVerdict::NothingJudged), ExitCode::Usage);
  EXPECT_EQ(exit_code(NightVerdict::Regressions), ExitCode::Failures);
  EXPECT_EQ(exit_code(NightVerdict::Failures), ExitCode::Failures);
  EXPECT_EQ(exit_code(NightVerdict::Infrastructure), ExitCode::Infrastructure);
}

// ---- digests

TEST(RunDigest, ListsFailuresWithWhatNeverRanLast) {
  const RunDigest digest = digest_of(test::report_of(
      {test::without_answer("m", Status::Missing, "no device"), test::passed("p"), test::failed("f")}));
  ASSERT_EQ(digest.failures.size(), 2U);
  EXPECT_EQ(digest.failures[0].status, Status::Fail);
  EXPECT_EQ(digest.failures[1].status, Status::Missing);
  EXPECT_EQ(digest.statuses.at(Status::Pass), 1U);
  EXPECT_EQ(digest.rows, 3U);
  EXPECT_EQ(digest.failures_left_out, 0U);
}

TEST(RunDigest, CutsALongListAndSaysHowMuch) {
  const RunDigest digest = digest_of(test::report_of(
      std::vector<Record>(most_listed_rows + 7, test::without_answer("m", Status::Missing, "lost"))));
  EXPECT_EQ(digest.failures.size(), most_listed_rows);
  EXPECT_EQ(digest.failures_left_out, 7U);
  EXPECT_EQ(digest.statuses.at(Status::Missing), most_listed_rows + 7);
}

TEST(ComparisonDigest, CountsAnswersOfOtherBits) {
  Record exact = test::passed("exact"), bounded = test::passed("bounded"), same = test::passed("same");
  bounded.accuracy->hash_is_portable = false;
  const std::vector<Record> before = {exact, bounded, same};
  exact.accuracy->output_hash = bounded.accuracy->output_hash = "ffffffffffffffffffffffffffffffff";
  const DeviceNight device = compared(before, {exact, bounded, same});
  EXPECT_EQ(device.last_good->comparison.changed_exact, 1U);
  EXPECT_EQ(device.last_good->comparison.changed_bounded, 1U);
  EXPECT_EQ(device.verdict(), NightVerdict::Good) << "both answers are right";
}

TEST(ComparisonDigest, CountsNoAnswerToOtherInputs) {
  Record row = test::passed("row");
  const std::vector<Record> before = {row};
  row.accuracy->output_hash = "ffffffffffffffffffffffffffffffff";
  row.accuracy->input_hash = "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee";
  EXPECT_EQ(compared(before, {row}).last_good->comparison.changed_exact, 0U);
}

// ---- nightly.json

TEST(NightJson, HoldsEverythingOfADevice) {
  const auto json = nlohmann::json::parse(
      night_json(night_of({compared({test::passed("a"), test::passed("b")}, {test::failed("a")})})));
  EXPECT_EQ(json.at("schema"), nightly_schema);
  EXPECT_EQ(json.at("verdict"), "FAILURES");
  EXPECT_EQ(json.at("exit_code"), 1);
  EXPECT_EQ(json.at("bytes"), 3'400'000);
  EXPECT_EQ(json.at("free_bytes"), 5'000'000'000);
  const auto& device = json.at("devices").at(0);
  EXPECT_EQ(device.at("slug"), "acme");
  EXPECT_EQ(device.at("device"), "Acme GPU 9");
  EXPECT_EQ(device.at("driver"), "Acme 12.3");
  EXPECT_EQ(device.at("report"), "runs/20260102T030405Z-1a2b3c/acme");
  EXPECT_EQ(device.at("statuses"), nlohmann::json({{"FAIL", 1}}));
  EXPECT_EQ(device.at("duration_s"), 725);
  const auto& failure = device.at("failures").at(0);
  EXPECT_EQ(failure.at("case"), test::failed("a").info.id);
  EXPECT_EQ(failure.at("status"), "FAIL");
  EXPECT_EQ(failure.at("reason"), "1 of 2 outputs is wrong");
  EXPECT_EQ(failure.at("file"), "cases/shuffle.yaml");
  EXPECT_EQ(failure.at("line"), 12);
  EXPECT_EQ(failure.at("repro"), test::failed("a").repro);
  const auto& group = device.at("failure_groups").at(0);
  EXPECT_EQ(group.at("name"), "FAIL wrong value");
  EXPECT_EQ(group.at("rows"), 1);
  EXPECT_EQ(group.at("new"), 1);
  EXPECT_EQ(group.at("text"), "1 of 1 row of shuffle: wrong value");
  EXPECT_EQ(device.at("last_good").at("run_id"), "20260101T030405Z-aaaaaa");
  EXPECT_EQ(device.at("comparison").at("totals"), nlohmann::json({{"BROKEN", 1}, {"GONE", 1}}));
  EXPECT_EQ(device.at("comparison").at("regressions"), 2);
  EXPECT_EQ(device.at("comparison").at("rows").at(0).at("verdict"), "BROKEN");
}

TEST(NightJson, OfADeviceWithoutAReportSaysWhy) {
  DeviceNight lost{.slug = "lost"};
  lost.problems = {"its link is dangling"};
  const auto json = nlohmann::json::parse(night_json(night_of({lost})));
  const auto& device = json.at("devices").at(0);
  EXPECT_EQ(device.at("verdict"), "INFRASTRUCTURE");
  EXPECT_EQ(device.at("problems").at(0), "its link is dangling");
  EXPECT_EQ(device.at("report"), "");
  EXPECT_TRUE(device.at("last_good").is_null());
  EXPECT_FALSE(device.contains("statuses")) << "no figure of a run that cannot be read";
}

TEST(NightJson, HasWarningsThatDoNotMakeTheNightBad) {
  DeviceNight device = device_of({test::passed("a")});
  device.warnings = {"its last good night cannot be read"};
  const auto json = nlohmann::json::parse(night_json(night_of({device})));
  EXPECT_EQ(json.at("devices").at(0).at("warnings").at(0), "its last good night cannot be read");
  EXPECT_EQ(json.at("exit_code"), 0);
  EXPECT_THAT(night_text(night_of({device})), HasSubstr("\n  warning its last good night cannot be read\n"));
  EXPECT_THAT(github_markdown(night_summary(night_of({device}))),
              HasSubstr("\n- its last good night cannot be read\n"));
}

TEST(NightJson, TakesTextOfAnyOrigin) {
  Record odd = test::failed("odd");
  odd.reason = odd.repro = test::nasty;
  DeviceNight device = device_of({odd}, test::nasty);
  device.problems = {test::nasty};
  EXPECT_TRUE(nlohmann::json::accept(night_json(night_of({device}))));
}

TEST(NightJson, TellsALaterVerdictWhatItWasHeldAgainst) {
  DeviceNight device = compared({test::passed("a")}, {test::passed("a")});
  device.is_accepted = device.becomes_last_good = true;
  const auto earlier =
      earlier_verdicts(night_json(night_of({device, device_of({test::passed("a")}, "fresh")})));
  EXPECT_EQ(earlier.at("acme").last_good, "../2026-01-01/runs/20260101T030405Z-aaaaaa/acme");
  EXPECT_TRUE(earlier.at("acme").is_accepted);
  EXPECT_TRUE(earlier.at("acme").became_last_good);
  EXPECT_EQ(earlier.at("acme").report, device.report);
  EXPECT_EQ(earlier.at("acme").started_utc, device.run->run.started_utc);
  EXPECT_EQ(earlier.at("fresh").last_good, "");
  EXPECT_FALSE(earlier.at("fresh").is_accepted);
}

TEST(NightJson, OfAnotherKindTellsNothing) {
  for (const char* text : {"", "{", "[]", "{}", R"({"schema": 1})", R"({"schema": 99, "devices": []})",
                           R"({"schema": 1, "devices": [7]})"})
    EXPECT_TRUE(earlier_verdicts(text).empty()) << text;
}

// ---- for GitHub

TEST(NightSummary, TellsWhatFailedAndWhatIsWorse) {
  DeviceNight lost{.slug = "lost"};
  lost.problems = {"its link is dangling"};
  const std::string text = github_markdown(
      night_summary(night_of({compared({test::passed("a"), test::passed("b")}, {test::failed("a")}), lost})));
  EXPECT_THAT(text, StartsWith("## Night 2026-01-02T010000Z\n\n**INFRASTRUCTURE**: 0 of 2 devices good\n"));
  EXPECT_THAT(text, HasSubstr("| acme   | FAILURES       |    1 |\n"));
  EXPECT_THAT(text, HasSubstr("| lost   | INFRASTRUCTURE |      |\n"));
  EXPECT_THAT(text, HasSubstr("| FAIL | `shuffle/a/"));
  EXPECT_THAT(text, HasSubstr("| GONE | `shuffle/b/"));
  EXPECT_THAT(text, HasSubstr("| 1 of 1 row of shuffle: wrong value: 1 of 2 outputs is wrong |"));
  EXPECT_THAT(text, Not(HasSubstr("| BROKEN |"))) << "it is among the failures";
  EXPECT_THAT(text, HasSubstr("\n- its link is dangling\n"));
}

TEST(NightSummary, LeavesOutRowsThatWereAccepted) {
  DeviceNight device =
      compared({test::passed("a"), test::passed("b"), test::passed("c")}, {test::passed("a")});
  ASSERT_EQ(device.last_good->comparison.rows.size(), 2U);
  device.accepted_rows = {device.last_good->comparison.rows[0].info.id};
  device.accepted = 1;
  const GithubSummary summary = night_summary(night_of({device}));
  EXPECT_EQ(summary.devices.at(0).compared.size(), 1U);
  EXPECT_EQ(summary.devices.at(0).compared_left_out, 0U);
}

// ---- verdict.txt

TEST(NightText, BeginsWithTheAnswer) {
  EXPECT_THAT(night_text(night_of({device_of({test::passed("a")})})),
              StartsWith("GOOD: 2026-01-02T010000Z, 1 of 1 device good\n"));
  EXPECT_THAT(night_text(night_of(
                  {device_of({test::failed("a"), test::failed("b")}), device_of({test::passed("a")})})),
              StartsWith("FAILURES: 2026-01-02T010000Z, 1 of 2 devices good, 2 rows failed\n"));
  EXPECT_THAT(night_text(night_of({compared({test::passed("a"), test::passed("b")}, {test::passed("a")})})),
              StartsWith("REGRESSIONS: 2026-01-02T010000Z, 0 of 1 device good, 1 row worse than in the last "
                         "good night\n"));
  EXPECT_THAT(night_text(night_of({})),
              StartsWith("INFRASTRUCTURE: 2026-01-02T010000Z, no report of any device\n"));
}

TEST(NightText, TellsOfEachDevice) {
  const std::string text = night_text(night_of({compared({test::passed("a")}, {test::failed("a")})}));
  EXPECT_THAT(text, HasSubstr("\nFAILURES  acme\n"
                              "  device  Acme GPU 9, Acme 12.3\n"
                              "  run     20260102T030405Z-1a2b3c, 12 min 05 s, 1.2 MB\n"
                              "  rows    1: 1 FAIL\n"
                              "  against 20260101T030405Z-aaaaaa: 1 BROKEN\n"
                              "  next    the last good night remains 20260101T030405Z-aaaaaa\n"
                              "  report  runs/20260102T030405Z-1a2b3c/acme\n"));
  EXPECT_THAT(
      text,
      HasSubstr("\n  FAIL            1 of 1 row of shuffle: wrong value; new since the last good night\n"
                "                  shuffle/a/1x16x4x8/4W4C.4W4C/fused\n"));
  EXPECT_THAT(text, HasSubstr("\n  The first of these in full:\n"
                              "  FAIL shuffle/a/1x16x4x8/4W4C.4W4C/fused (accu)\n"));
  EXPECT_THAT(text, HasSubstr("\n    again   assay run --filter shuffle/a/1x16x4x8/4W4C.4W4C/fused\n"));
  EXPECT_THAT(text, HasSubstr("\n  disk    the night has 3.4 MB, 5.0 GB are free\n"));
}

TEST(NightText, PutsABlankAfterTheLongestStatus) {
  Record record = test::passed("a");
  record.status = Status::UnexpectedPass;
  EXPECT_THAT(night_text(night_of({device_of({record})})), HasSubstr("\n  UNEXPECTED_PASS shuffle/a/"));
}

TEST(NightText, NamesWhatElseHasChanged) {
  DeviceNight device = compared({test::passed("a")}, {test::passed("a")});
  EXPECT_THAT(night_text(night_of({device})), Not(HasSubstr("driver")));
  device.last_good->comparison.base.device.driver_info = "11.0";
  device.last_good->comparison.changed_exact = 3;
  const std::string text = night_text(night_of({device}));
  EXPECT_THAT(text, HasSubstr("\n  driver  Acme 11.0 -> Acme 12.3\n"));
  EXPECT_THAT(text, HasSubstr("\n  answers 3 exact rows right, but with different bits than then"));
}

std::vector<Record> failing_rows(int count) {
  std::vector<Record> records;
  for (int i = 0; i < count; ++i) records.push_back(test::failed("f" + std::to_string(i)));
  return records;
}

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

TEST(NightText, IsAsLongForABugOfManyRowsAsForOneOfTwo) {
  const auto text = [](int count) {
    std::vector<Record> before = failing_rows(count);
    for (Record& record : before) record = test::passed(record.info.name);
    return night_text(night_of({compared(before, failing_rows(count))}));
  };
  EXPECT_EQ(lines_of(text(200)), lines_of(text(2))) << text(200);
  EXPECT_THAT(text(200), HasSubstr("\n  rows    assay show runs/20260102T030405Z-1a2b3c/acme "
                                   "--group 'failure=FAIL wrong value'\n"));
  EXPECT_THAT(text(200), Not(HasSubstr("\n  BROKEN "))) << "they are among tonight's failures";
}

TEST(NightText, HasNewFailuresFirst) {
  std::vector<Record> before = failing_rows(5), now = failing_rows(5);
  before.push_back(test::passed("fresh"));
  Record fresh = test::failed("fresh");
  fresh.accuracy->diagnosis = Diagnosis{"zero_point", "as if zero_point were 0", 1};
  now.push_back(fresh);
  const std::string text = night_text(night_of({compared(before, now)}));
  const std::size_t first = text.find("1 of 6 rows of shuffle: zero point; new since"),
                    second = text.find("5 of 6 rows of shuffle: wrong value\n");
  ASSERT_NE(first, text.npos) << text;
  ASSERT_NE(second, text.npos) << text;
  EXPECT_LT(first, second);
  EXPECT_THAT(text, HasSubstr("in full:\n  FAIL shuffle/fresh/"));
}

TEST(NightText, CallsAKnownFailureNotNewWhenItsRuleIsGone) {
  Record known = test::failed("a");
  known.status = Status::ExpectedFail;
  const std::string text = night_text(night_of({compared({known}, {test::failed("a")})}));
  EXPECT_THAT(text, HasSubstr("1 of 1 row of shuffle: wrong value\n"));
}

TEST(NightText, SaysHowManyOfAGroupAreNew) {
  std::vector<Record> before = failing_rows(3);
  before[1] = test::passed("f1");
  const std::string text = night_text(night_of({compared(before, failing_rows(3))}));
  EXPECT_THAT(text, HasSubstr("3 of 3 rows of shuffle: wrong value; 1 of them new since the last good night\n"
                              "                  such as shuffle/f1/"));
}

TEST(NightText, EndsALongListWithItsCount) {
  std::vector<Record> records = failing_rows(25);
  for (std::size_t i = 0; i < records.size(); ++i) {
    records[i].accuracy.reset();
    records[i].reason = "odd " + std::string(i + 1, 'x');
  }
  const std::string text = night_text(night_of({device_of(records)}));
  EXPECT_THAT(text, HasSubstr("1 of 25 rows of shuffle: odd xxxxxxxxxxxxxxxxxxxx\n"));
  EXPECT_THAT(text, Not(HasSubstr("odd xxxxxxxxxxxxxxxxxxxxx")));
  EXPECT_THAT(text, HasSubstr("\n  and 5 more kinds; `assay show runs/20260102T030405Z-1a2b3c/acme --group "
                              "failure` counts them all\n"));
}

TEST(NightText, ListsRowsThatWereLostOnce) {
  const std::string text = night_text(night_of({compared(
      {test::passed("a"), test::passed("b")},
      {test::passed("a"), test::without_answer("b", Status::Missing, "the device was given up")})}));
  EXPECT_THAT(text, HasSubstr("\n  MISSING         1 row of shuffle: the device was given up"));
  EXPECT_THAT(text, HasSubstr("\n                  shuffle/b/"));
  EXPECT_THAT(text, Not(HasSubstr("\n  GONE "))) << text;
}

TEST(NightText, FitsAHundredColumnsAndATerminal) {
  Record odd = test::failed("odd");
  odd.reason = std::string(40, 'r') + ' ' + std::string(50, 's') + ' ' + test::nasty;
  odd.repro = "assay run cases/shuffle.yaml --filter '" + odd.info.id + "' --mode accu --shaders " +
              std::string(60, 'p');
  DeviceNight device = compared({test::passed("odd"), test::passed("gone")}, {odd});
  device.problems = {"its last good night cannot be compared with: " + std::string(80, 'x') + " and more"};
  std::istringstream lines(night_text(night_of({device})));
  std::string line;
  std::getline(lines, line);
  EXPECT_THAT(line, ::testing::EndsWith("2 rows worse than in the last good night"))
      << "the first line is whole, as the page and mails show it alone";
  while (std::getline(lines, line)) {
    EXPECT_LE(line.size(), page_width) << line;
    EXPECT_EQ(line.find('\x1b'), line.npos) << line;
  }
}

}  // namespace
}  // namespace assay
