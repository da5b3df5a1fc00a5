#include "harness/report/console/console.h"

#include "harness/report/console/summary.h"
#include "harness/report/record/words.h"
#include "tests/support/records.h"
#include "tests/support/report_text.h"
#include "tests/support/tell.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <vector>

namespace assay {
namespace {

using test::infos_of;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

RowInfo row(const char* mode) {
  RowInfo info;
  info.mode = mode;
  return info;
}

std::vector<RowInfo> rows(std::size_t accu, std::size_t perf) {
  std::vector<RowInfo> all(accu, row("accu"));
  all.insert(all.end(), perf, row("perf"));
  return all;
}

TEST(TimeLeft, CountsEachModeForItself) {
  TimeLeft left;
  left.plan(rows(4, 3), 100);
  left.ended(row("accu"), 101);
  left.ended(row("accu"), 101.5);
  left.ended(row("perf"), 111.5);
  EXPECT_EQ(left.seconds(), 2 * 0.75 + 2 * 10);
}

TEST(TimeLeft, RowsThatEndTogetherShareTheirTime) {
  TimeLeft left;
  left.plan(rows(0, 6), 0);
  for (int i = 0; i < 4; ++i) left.ended(row("perf"), 20);
  EXPECT_EQ(left.seconds(), 2 * 5.0);
}

TEST(TimeLeft, IsNotToldWhileAModeIsUnknown) {
  TimeLeft left;
  left.plan(rows(3, 1), 0);
  left.ended(row("accu"), 1);
  EXPECT_EQ(left.seconds(), std::nullopt) << "the duration of a timed row is unknown";
  left.ended(row("perf"), 5);
  EXPECT_EQ(left.seconds(), 2.0);
}

RowInfo timed(const char* id) {
  RowInfo info = row("perf");
  info.id = id;
  return info;
}

TEST(TimeLeft, FallsWithEachBlockWhileTimedRowsTakeTurns) {
  TimeLeft left;
  left.plan(rows(0, 2), 0);
  EXPECT_EQ(left.seconds(), std::nullopt);
  left.block(timed("a"), 2);
  EXPECT_EQ(left.taking_turns(), 1u);
  const double first = left.seconds().value();
  left.block(timed("b"), 4);
  EXPECT_EQ(left.taking_turns(), 2u);
  const double second = left.seconds().value();
  left.block(timed("a"), 6);
  EXPECT_LT(second, first);
  EXPECT_LT(left.seconds().value(), second);
  left.ended(timed("a"), 6);
  left.ended(timed("b"), 6);
  EXPECT_EQ(left.taking_turns(), 0u);
}

TEST(TimeLeft, TakesRowsThatHaveNotBegunForLikeThoseThatEnded) {
  TimeLeft left;
  left.plan(rows(0, 3), 0);
  for (int block = 1; block <= 6; ++block) left.block(timed("a"), block);
  left.ended(timed("a"), 6);
  left.block(timed("b"), 7);
  EXPECT_EQ(left.seconds(), 5.0 + 6.0) << "five blocks of b and six of another, a second each";
}

TEST(TimeLeft, RisesOnlyWhereItHasNotFallenForAWhile) {
  TimeLeft left;
  left.plan(rows(10, 0), 0);
  left.ended(row("accu"), 1);
  EXPECT_EQ(left.seconds(), 9.0);
  left.ended(row("accu"), 30);
  EXPECT_EQ(left.seconds(), 9.0) << "one row took long; the others need not";
  left.ended(row("accu"), 36);
  EXPECT_EQ(left.seconds(), 7 * 12.0) << "they do";
  for (int i = 0; i < 6; ++i) left.ended(row("accu"), 36);
  EXPECT_EQ(left.seconds(), 4.0);
  left.ended(row("accu"), 40);
  EXPECT_EQ(left.seconds(), std::nullopt);
}

TEST(TimeLeft, IsNotToldAtTheEnd) {
  TimeLeft left;
  left.plan(rows(1, 0), 0);
  left.ended(row("accu"), 1);
  EXPECT_EQ(left.seconds(), std::nullopt);
}

TEST(TimeLeft, BeginsAnewWithAPlan) {
  TimeLeft left;
  left.plan(rows(2, 0), 0);
  left.ended(row("accu"), 50);
  left.plan(rows(2, 0), 60);
  left.ended(row("accu"), 61);
  EXPECT_EQ(left.seconds(), 1.0);
}

// A console on strings, with a clock that the test advances.
struct Fixture {
  explicit Fixture(ConsoleOptions options = {}) : console(out, log, with_clock(std::move(options))) {}

  ConsoleOptions with_clock(ConsoleOptions options) {
    options.now_seconds = [this] { return now; };
    return options;
  }

  void run(const std::vector<Record>& records, double seconds_a_case) {
    console.run(test::sample_run());
    console.plan(infos_of(records));
    for (const Record& record : records) {
      console.begin(record.info);
      now += seconds_a_case;
      console.record(record);
    }
    console.end();
  }

  double now = 100;
  std::ostringstream out, log;
  Console console;
};

TEST(Console, ShowsFailuresTablesAndTotals) {
  const std::vector<Record> records = {
      test::passed("good"),
      test::failed("bad"),
      test::without_answer("old", Status::Unsupported, "shaderInt8 is missing"),
      test::without_answer("older", Status::Unsupported, "shaderInt8 is missing"),
      test::without_answer("odd", Status::Invalid, "channels 6 are no multiple of 4"),
      test::timed("fast", "fused", 2.5),
      test::timed("fast", "unfused", 10),
  };
  Fixture fixture;
  fixture.run(records, 0.5);
  fixture.console.summary(test::report_of(records), "out/acme");
  EXPECT_TRUE(test::matches(fixture.out.str(), R"(assay 0.1.0+b1a8850ccc06  run 20260102T030405Z-1a2b3c
device  Acme GPU 9 (discrete)
driver  Acme 12.3, Vulkan 1.3.250
timer   good, unit 32.5 ns, GPU/CPU time 1.0005
ceiling copy 500 GB/s at 1 GiB, 2000 at 1 MiB; fp32 50000, fp16 100000, int8 dot 90000 GOP/s
cases   7 (5 accu, 2 perf)

FAIL  shuffle/bad/1x16x4x8/4W4C.4W4C/fused (accu)
  at      cases/shuffle.yaml:12
  what    wrong value
  why     1 of 2 outputs is wrong
  error   largest 3
  map     ....
          .##.
  again   assay run --filter shuffle/bad/1x16x4x8/4W4C.4W4C/fused

PERF  median with the half width of its interval; time relative to the group's first row; * fastest of its group; imprecise: nothing should be decided from that time
  impl     forms          median us     +-  GB/s  % ceiling   time
shuffle  all rows: upscale_factor=2
shuffle  1x16x4x8
* fused    x=4W4C y=4C1W       2.50  0.8 %  3.20       12.5  1.00x  imprecise
  unfused  x=4W4C y=4C1W      10.00  0.8 %  0.80       12.5  4.00x  imprecise

FAILURES  by kind, with what they have in common; `assay show REPORT ID` shows one in full, docs/failures.md explains the words
FAIL             1 of 4 rows of shuffle: wrong value
                 shuffle/bad/1x16x4x8/4W4C.4W4C/fused
                 1 of 2 outputs is wrong

7 cases in 3.5 s
PASS                3
UNSUPPORTED         2
                    2  shaderInt8 is missing
INVALID             1
                    1  channels 6 are no multiple of 4
FAIL                1
reports out/acme
)"));
  EXPECT_EQ(fixture.log.str(), "") << "no progress is due in so short a run";
}

TEST(Console, TellsProgressInPlainLinesNowAndThen) {
  Fixture fixture;
  fixture.run({test::passed("a"), test::failed("b"), test::passed("c"), test::passed("d")}, 3);
  EXPECT_EQ(fixture.log.str(),
            "2/4  1 failed  6.0 s left  shuffle/b/1x16x4x8/4W4C.4W4C/fused\n"
            "4/4  1 failed  shuffle/d/1x16x4x8/4W4C.4W4C/fused\n");
}

TEST(Console, RewritesOneLineOnATerminal) {
  Fixture fixture({.is_terminal = true, .width = 24});
  fixture.run({test::passed("a"), test::passed("b")}, 60);
  EXPECT_EQ(fixture.log.str(),
            "\r\x1b[K1/2  1 min 00 s left..."
            "\r\x1b[K2/2  shuffle/b/1x16x..."
            "\r\x1b[K");
}

TEST(Console, ShowsTheRoundsInWhichTimedRowsAlternate) {
  const std::vector<Record> rows = {test::timed("a", "fused", 2), test::timed("b", "fused", 2)};
  Fixture fixture({.is_terminal = true});
  fixture.console.plan(infos_of(rows));
  for (int round = 0; round < 2; ++round) {
    for (const Record& row : rows) {
      fixture.console.begin(row.info);
      fixture.now += 10;
      fixture.console.block(row.info, {.round = round});
    }
  }
  const std::string& id = rows[0].info.id;
  EXPECT_THAT(fixture.log.str(), HasSubstr("0/2  round 1, 1 row  4 min 50 s left  " + id));
  EXPECT_THAT(fixture.log.str(), HasSubstr("0/2  round 2, 2 rows alternating  4 min 30 s left  " + id));
  EXPECT_THAT(fixture.log.str(), HasSubstr("0/2  round 2, 2 rows alternating  4 min 20 s left  "));
  fixture.log.str("");
  for (const Record& row : rows) fixture.console.record(row);
  EXPECT_THAT(fixture.log.str(), Not(HasSubstr("round 2, 0 rows")));
}

TEST(Console, ShowsTimerAndCeilingsOnceWhenTheRunIsToldAgain) {
  Fixture fixture;
  fixture.console.run(test::sample_run());
  fixture.console.run(test::sample_run());
  const std::string text = fixture.out.str();
  for (const char* line : {"\ntimer ", "\nceiling "}) EXPECT_EQ(text.find(line), text.rfind(line)) << line;
}

TEST(Console, TakesTheProgressLineAwayBeforeAFailure) {
  Fixture fixture({.is_terminal = true});
  fixture.console.plan(infos_of({test::failed("a"), test::passed("b")}));
  fixture.now += 1;
  fixture.console.begin(test::sample_case("a"));
  EXPECT_THAT(fixture.log.str(), StartsWith("\r\x1b[K0/2"));
  fixture.log.str("");
  fixture.console.record(test::failed("a"));
  EXPECT_THAT(fixture.log.str(), StartsWith("\r\x1b[K"));
}

TEST(Console, ShowsTheFirstOfAKindInFullAndSomeMoreInALine) {
  Fixture fixture;
  fixture.run({test::failed("a"), test::failed("b"), test::failed("c"), test::failed("d"),
               test::without_answer("e", Status::Crash, "signal 11")},
              0);
  const std::string text = fixture.out.str();
  EXPECT_THAT(text, HasSubstr("  what    wrong value\n"));
  EXPECT_THAT(text, HasSubstr("\n\nFAIL  shuffle/b/1x16x4x8/4W4C.4W4C/fused (accu)\n"
                              "FAIL  shuffle/c/1x16x4x8/4W4C.4W4C/fused (accu)\n"
                              "Further failures of this kind are counted at the end"));
  EXPECT_THAT(text, Not(HasSubstr("FAIL  shuffle/d/")));
  EXPECT_THAT(text, HasSubstr("  why     signal 11\n")) << "of another kind";
}

TEST(Console, ShowsALimitedNumberOfKindsInFull) {
  Fixture fixture({.full_failures = 1});
  fixture.run({test::failed("a"), test::without_answer("b", Status::Crash, "signal 11")}, 0);
  EXPECT_THAT(fixture.out.str(),
              ::testing::EndsWith("\n\nCRASH  shuffle/b/1x16x4x8/4W4C.4W4C/fused (accu)\n"));
}

TEST(Console, CountsRowsThatNeverRanInsteadOfShowingEach) {
  const std::vector<Record> records = {test::without_answer("a", Status::Missing, "not run: interrupted"),
                                       test::without_answer("b", Status::Missing, "not run: interrupted")};
  Fixture fixture;
  fixture.run(records, 0);
  EXPECT_THAT(fixture.out.str(), Not(HasSubstr("MISSING")));
  fixture.console.summary(test::report_of(records), "");
  EXPECT_THAT(fixture.out.str(),
              HasSubstr("MISSING             2\n                    2  not run: interrupted\n"));
}

TEST(Console, ShowsEveryCaseWhenVerbose) {
  Fixture fixture({.verbose = true, .full_failures = 0});
  fixture.run({test::passed("a"), test::without_answer("b", Status::Skipped, "as asked"), test::failed("c")},
              0);
  EXPECT_THAT(fixture.out.str(), HasSubstr("PASS  shuffle/a/1x16x4x8/4W4C.4W4C/fused  2.1 ms\n"));
  EXPECT_THAT(fixture.out.str(),
              HasSubstr("SKIPPED  shuffle/b/1x16x4x8/4W4C.4W4C/fused  0.0 ms  as asked\n"));
  EXPECT_THAT(fixture.out.str(), HasSubstr("  what    wrong value\n"));
}

TEST(Console, IsPlainTextUnlessColorIsAskedFor) {
  const std::vector<Record> records = test::all_kinds();
  for (const bool color : {false, true}) {
    Fixture fixture({.color = color, .verbose = true});
    fixture.run(records, 0);
    fixture.console.summary(test::report_of(records), "out");
    EXPECT_EQ(fixture.out.str().find('\x1b') != std::string::npos, color);
    EXPECT_EQ(fixture.out.str().find("\x1b[1;31mFAIL\x1b[0m") != std::string::npos, color);
  }
}

TEST(Console, LetsNoControlCharacterOfOthersThrough) {
  Fixture fixture;
  RunInfo run = test::sample_run();
  run.device.name = test::nasty;
  fixture.console.run(run);
  std::vector<Record> records = test::all_kinds();
  for (Record& record : records) record.info.id = record.info.impl = record.info.forms = test::nasty;
  fixture.run(records, 10);
  fixture.console.summary(test::report_of(records), "out");
  for (const std::string& text : {fixture.out.str(), fixture.log.str()}) {
    EXPECT_EQ(text.find_first_of(std::string("\x1b\r\x7f") + '\0'), text.npos);
    EXPECT_EQ(valid_utf8(text), text);
  }
}

TEST(Console, ShowsTheHeaderOfAReportThatIsReadBack) {
  Fixture fixture;
  RunReport report = test::report_of({test::passed("a")});
  report.complete = false;
  report.cut_off = true;
  fixture.console.summary(report, "");
  EXPECT_TRUE(test::matches(fixture.out.str(), R"(assay 0.1.0+b1a8850ccc06  run 20260102T030405Z-1a2b3c
device  Acme GPU 9 (discrete)
driver  Acme 12.3, Vulkan 1.3.250
timer   good, unit 32.5 ns, GPU/CPU time 1.0005
ceiling copy 500 GB/s at 1 GiB, 2000 at 1 MiB; fp32 50000, fp16 100000, int8 dot 90000 GOP/s

1 case
PASS                1
The run did not finish. The journal's last line was cut off.
)"));
}

TEST(FailureList, GroupsWhatIsOfOneKindAndCountsTheRest) {
  const RunReport report =
      test::report_of({test::without_answer("a", Status::Missing, "not reached"), test::failed("b"),
                       test::failed("d"), test::without_answer("c", Status::Crash, "signal 11\nstack")});
  EXPECT_EQ(failure_list(report, 2, false),
            "FAIL             2 of 3 rows of shuffle: wrong value\n"
            "                 such as shuffle/b/1x16x4x8/4W4C.4W4C/fused\n"
            "                 1 of 2 outputs is wrong\n"
            "CRASH            1 of 3 rows of shuffle: signal 11\n"
            "                 shuffle/c/1x16x4x8/4W4C.4W4C/fused\n"
            "and 1 more kinds; the reports have them all\n");
  EXPECT_EQ(failure_list(test::report_of({test::passed("a")}), 2, false), "");
}

TEST(StatusTotals, CountsEveryCaseOnce) {
  const RunReport report = test::report_of(test::all_kinds());
  std::size_t sum = 0;
  for (const std::string& line : test::lines_of(status_totals(report, false))) {
    if (!line.starts_with(' ')) sum += std::stoul(line.substr(line.find_last_of(' ')));
  }
  EXPECT_EQ(sum, report.records.size());
}

TEST(Describe, TellsEachMetricInWords) {
  AccuracyResult a = *test::failed("a").accuracy;
  EXPECT_EQ(describe(a),
            "wrong value at y[0,3,7,2]: expected 12, got 13 (bound 0); 42 of 1536 elements (2.7 %)");
  std::set<std::string> seen;
  for (const MetricWords& words : known_metrics()) {
    a.metric = words.metric;
    EXPECT_TRUE(seen.insert(describe(a)).second) << words.metric;
    EXPECT_THAT(describe(a), HasSubstr("y")) << words.metric;
  }
  a.metric = "too_many_flips";
  a.flips = 120;
  a.expected_flips = 3.25;
  EXPECT_EQ(describe(a), "120 elements of y are off by one at a rounding tie, but about 3.25 were expected");
  a.metric = "all_zeros";
  EXPECT_EQ(describe(a), "all zeros would pass as y too: this case proves nothing");
  a.metric = "invented_later";
  EXPECT_THAT(describe(a), StartsWith("invented_later y[0,3,7,2]"));
  a.metric = "";
  EXPECT_EQ(describe(a), "");
}

TEST(FailureText, TellsTheFiguresItselfWhereThereIsNoReason) {
  Record record = test::failed("a");
  record.reason.clear();
  record.validation_messages = 2;
  record.accuracy->bound = 0.5;
  record.accuracy->err_over_bound = 6;
  EXPECT_EQ(
      failure_text(record),
      "FAIL  shuffle/a/1x16x4x8/4W4C.4W4C/fused (accu)\n"
      "  at      cases/shuffle.yaml:12\n"
      "  what    wrong value at y[0,3,7,2]: expected 12, got 13 (bound 0.5); 42 of 1536 elements (2.7 %)\n"
      "  error   largest 3, 6 times the bound\n"
      "  map     ....\n"
      "          .##.\n"
      "  layer   2 messages from the validation layer\n"
      "  again   assay run --filter shuffle/a/1x16x4x8/4W4C.4W4C/fused\n");
}

TEST(FailureText, HasTheEvidenceTheDiagnosisAndWhatTheLayerSaid) {
  Record record = test::failed("a");
  AccuracyResult& a = *record.accuracy;
  a.diagnosis = Diagnosis{"zero_point", "as if zero_point were 0", 0.9751};
  a.first = WrongElement{.at = {0, 3},
                         .expected = 1.0 / 3,
                         .got = 0.5,
                         .bound = 0.25,
                         .relative = 0.5,
                         .ulp = 1234,
                         .before_rounding = 12.5,
                         .made_from = {"x[0,3]=1.5", "scale[0]=0.25"}};
  a.worst = WrongElement{.at = {1, 2}, .expected = 7, .unwritten = true};
  record.validation_messages = 2;
  record.validation_texts = {"a hazard", "another"};
  const std::string text = failure_text(record);
  EXPECT_THAT(
      text,
      HasSubstr("  kind    zero point: as if zero_point were 0 (explains 97 % of the wrong elements)\n"));
  EXPECT_THAT(
      text,
      HasSubstr(
          "  first   [0,3]: expected 0.333333333, got 0.5 (bound 0.25; relative error 0.5, 1234 ulp, before "
          "rounding 12.5), from x[0,3]=1.5, scale[0]=0.25\n"));
  EXPECT_THAT(text, HasSubstr("  worst   [1,2]: expected 7, never written (bound 0)\n"));
  EXPECT_THAT(
      text,
      HasSubstr("  layer   2 messages from the validation layer\n          a hazard\n          another\n"));
}

TEST(HasTime, WithholdsTheTimeOfWrongKernels) {
  for (int i = 0; i <= static_cast<int>(Status::Interrupted); ++i) {
    Record record = test::timed("a", "fused", 1);
    record.status = static_cast<Status>(i);
    const bool shown = record.status == Status::Pass || record.status == Status::Suspect ||
                       record.status == Status::UnexpectedPass;
    EXPECT_EQ(has_time(record), shown) << name_of(record.status);
  }
  EXPECT_FALSE(has_time(test::passed("a")));
}

TEST(RuleNoteLines, SayWhichRuleItIsAndWhatToDo) {
  RunInfo run;
  EXPECT_EQ(rule_note_lines(run, false), "");
  run.rule_notes = {{"stale", {"cases/expectations/gpu.yaml", 3, 5}, "op/\x1b*", "a bug", "remove it"}};
  EXPECT_EQ(rule_note_lines(run, false),
            "stale  cases/expectations/gpu.yaml:3  op/\\x1b*  (a bug)\n"
            "    remove it\n");
}

}  // namespace

}  // namespace assay
