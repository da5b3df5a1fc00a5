#include "harness/report/console/summary.h"

#include "tests/support/records.h"
#include "tests/support/report_text.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using ::testing::HasSubstr;

Record compared(double median_us, const Comparison& comparison) {
  Record record = test::timed("fast", "fused", median_us);
  record.perf->spirv_hash = "0123";
  record.comparison = comparison;
  record.comparison->baseline = test::sample_case("fast", "perf", "unfused").id;
  return record;
}

std::string line_of(const Record& record) {
  return comparison_lines(test::report_of({test::timed("fast", "unfused", 10), record}), false);
}

const std::string compared_id = "shuffle/fast/1x16x4x8/4W4C.4W4C/fused";

TEST(ComparisonLines, SayHowMuchFasterWithTheIntervalAndBothTimes) {
  EXPECT_EQ(line_of(compared(4, {.ratio = 0.4, .ratio_low = 0.39, .ratio_high = 0.42, .blocks = 10})),
            compared_id + "  fused vs unfused: 2.50x faster (2.38 .. 2.56), 10.00 us -> 4.00 us\n");
}

TEST(ComparisonLines, SayHowMuchSlower) {
  EXPECT_EQ(line_of(compared(10.5, {.ratio = 1.05, .ratio_low = 1.04, .ratio_high = 1.2, .blocks = 10})),
            compared_id + "  fused vs unfused: 1.050x slower (1.040 .. 1.20), 10.00 us -> 10.50 us\n");
}

TEST(ComparisonLines, SeeNoDifferenceWhereTheIntervalHoldsOne) {
  for (const auto& [low, high] : {std::pair{0.99, 1.02}, {1.0, 1.02}, {0.9, 1.0}}) {
    EXPECT_THAT(line_of(compared(10.1, {.ratio = 1.01, .ratio_low = low, .ratio_high = high, .blocks = 10})),
                HasSubstr("no difference: the interval of the ratio contains 1"));
  }
}

TEST(ComparisonLines, TellWhenTheIntervalIsOfTooFewBlocks) {
  EXPECT_THAT(line_of(compared(4, {.ratio = 0.4, .ratio_low = 0.39, .ratio_high = 0.42, .blocks = 4})),
              HasSubstr("; only 4 blocks: the interval says little"));
}

TEST(ComparisonLines, TellWhenBothRanTheSameCode) {
  Record record = compared(4, {.ratio = 0.4, .ratio_low = 0.39, .ratio_high = 0.42, .blocks = 10});
  record.perf->spirv_hash = test::timed("fast", "unfused", 10).perf->spirv_hash;
  EXPECT_THAT(line_of(record), HasSubstr("; both have the same SPIR-V: the difference is noise"));
}

TEST(ComparisonLines, NameTheFoldersOfTwoVersionsOfTheShaders) {
  Record own = test::timed("fast", "fused", 10);
  Record versus = compared(4, {.ratio = 0.4, .ratio_low = 0.39, .ratio_high = 0.42, .blocks = 10});
  versus.comparison->baseline = own.info.id;
  versus.info.id += "/versus";
  versus.info.shaders = "mine";
  EXPECT_THAT(comparison_lines(test::report_of({own, versus}), false),
              HasSubstr(compared_id + "/versus  shaders mine vs the embedded shaders: 2.50x faster"));
  own.info.shaders = "old";
  EXPECT_THAT(comparison_lines(test::report_of({own, versus}), false),
              HasSubstr("shaders mine vs shaders old: "));
}

TEST(ComparisonLines, SayWhyThereIsNoRatio) {
  Record failed = compared(4, {.note = "this row is FAIL"});
  failed.status = Status::Fail;
  EXPECT_EQ(line_of(failed), compared_id + "  fused vs unfused: not compared: this row is FAIL\n");
  Record alone = compared(4, {.note = "no row of impl 'x' in the same forms is timed in this group"});
  alone.comparison->baseline.clear();
  EXPECT_EQ(comparison_lines(test::report_of({alone}), false),
            "1 row is not compared: no row of impl 'x' in the same forms is timed in this group\n");
}

TEST(ComparisonLines, CountRowsThatHaveNoBaselineInsteadOfListingThem) {
  std::vector<Record> rows(3, test::timed("other", "fused", 4));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].info.id += fmt::format("/{}", i);
    rows[i].comparison = Comparison{.note = "no row of impl 'x' in the same forms is timed in this group"};
  }
  rows.push_back(test::timed("fast", "unfused", 10));
  rows.push_back(compared(4, {.ratio = 0.4, .ratio_low = 0.39, .ratio_high = 0.42, .blocks = 10}));
  EXPECT_EQ(comparison_lines(test::report_of(rows), false),
            compared_id +
                "  fused vs unfused: 2.50x faster (2.38 .. 2.56), 10.00 us -> 4.00 us\n"
                "3 rows are not compared: no row of impl 'x' in the same forms is timed in this "
                "group\n");
}

TEST(ComparisonLines, AreNoneWhenNothingWasCompared) {
  const RunReport report = test::report_of({test::passed("good"), test::timed("fast", "fused", 2.5)});
  EXPECT_EQ(comparison_lines(report, false), "");
}

TEST(ComparisonColumns, HoldTheRatioAndItsInterval) {
  const Record record = compared(4, {.ratio = 0.4, .ratio_low = 0.39, .ratio_high = 0.42, .blocks = 10});
  EXPECT_THAT(test::perf_csv(test::report_of({record})),
              HasSubstr(",shuffle/fast/1x16x4x8/4W4C.4W4C/unfused,0.4,0.39,0.42,10,,"));
}

TEST(ComparisonColumns, HoldTheNoteWhereThereIsNoRatio) {
  const Record record = compared(4, {.note = "its baseline is FAIL"});
  EXPECT_THAT(test::perf_csv(test::report_of({record})),
              HasSubstr(",shuffle/fast/1x16x4x8/4W4C.4W4C/unfused,,,,,its baseline is FAIL,"));
}

const std::string good = "shuffle/good/1x16x4x8/4W4C.4W4C/fused";
const std::string fast = "shuffle/fast/1x16x4x8/4W4C.4W4C/fused (perf)";

std::string changes(const std::vector<Record>& before, const std::vector<Record>& after) {
  return change_lines(test::report_of(before), test::report_of(after), false);
}

Record timed(double median_us, double interval_pct) {
  Record record = test::timed("fast", "fused", median_us);
  record.perf->ci_pct = interval_pct;
  return record;
}

Record wrong(const std::string& reason) {
  Record record = test::passed("good");
  record.status = Status::Fail;
  record.reason = reason;
  return record;
}

TEST(ChangeLines, TellAStatusThatChangedAndWhy) {
  EXPECT_EQ(changes({test::passed("good")}, {wrong("y[0] is wrong")}),
            "PASS -> FAIL  " + good + "\n  y[0] is wrong\n");
  EXPECT_EQ(changes({wrong("y[0] is wrong")}, {test::passed("good")}), "FAIL -> PASS  " + good + "\n");
}

TEST(ChangeLines, TellANewReasonOfTheSameStatus) {
  EXPECT_EQ(changes({wrong("y[0] is wrong")}, {wrong("y[1] is wrong")}),
            "FAIL  " + good + "\n  y[1] is wrong\n");
}

TEST(ChangeLines, QuoteACompileErrorOnceInFull) {
  const std::string reason = "x.comp:3: error: no\n    3 | bad;";
  Record other = wrong(reason);
  other.info = test::sample_case("other");
  EXPECT_EQ(changes({}, {wrong(reason), other}),
            "new: FAIL  " + good + "\n  x.comp:3: error: no\n      3 | bad;\n" +
                "new: FAIL  shuffle/other/1x16x4x8/4W4C.4W4C/fused\n  x.comp:3: error: no (as above)\n");
}

TEST(ChangeLines, TellATimeWithItsIntervalBeforeAndAfter) {
  EXPECT_EQ(changes({timed(10, 1)}, {timed(5, 2)}),
            "PASS  " + fast + "  time 10.00 us +- 1.0 % -> 5.00 us +- 2.0 %, 2.00x faster\n");
  EXPECT_EQ(changes({timed(5, 2)}, {timed(10, 1)}),
            "PASS  " + fast + "  time 5.00 us +- 2.0 % -> 10.00 us +- 1.0 %, 2.00x slower\n");
}

TEST(ChangeLines, ATimeWhoseIntervalsMeetIsTheSame) {
  EXPECT_EQ(changes({timed(10, 1)}, {timed(10.15, 1)}),
            "no change: " + fast + "  time same: 10.15 us +- 1.0 %\n");
  EXPECT_NE(changes({timed(10, 1)}, {timed(10.3, 1)}).find("1.03x slower"), std::string::npos);
}

TEST(ChangeLines, ATimeThatIsLostOrFoundIsTold) {
  Record failed = timed(10, 1);
  failed.status = Status::Fail;
  failed.reason = "wrong";
  failed.perf.reset();
  EXPECT_EQ(changes({timed(10, 1)}, {failed}),
            "PASS -> FAIL  " + fast + "  no time, before 10.00 us +- 1.0 %\n  wrong\n");
  EXPECT_EQ(changes({failed}, {timed(10, 1)}), "FAIL -> PASS  " + fast + "  time 10.00 us +- 1.0 %\n");
}

TEST(ChangeLines, CountRowsWithoutChange) {
  EXPECT_EQ(changes({wrong("x")}, {wrong("x")}), "no change: " + good + " is FAIL\n");
  EXPECT_EQ(changes({test::passed("good"), timed(10, 1)}, {test::passed("good"), timed(10, 1)}),
            "no change: 2 rows\n");
}

TEST(ChangeLines, TellRowsThatCameAndWent) {
  EXPECT_EQ(changes({test::passed("good")}, {test::passed("other")}),
            "new: PASS  shuffle/other/1x16x4x8/4W4C.4W4C/fused\ngone  " + good + "\n");
}

TEST(ChangeLines, AccuracyAndPerformanceOfOneCaseAreTwoRows) {
  Record accu = test::passed("fast");
  EXPECT_EQ(
      changes({accu}, {accu, timed(10, 1)}),
      "new: PASS  " + fast + "  time 10.00 us +- 1.0 %\nno change: shuffle/fast/1x16x4x8/4W4C.4W4C/fused\n");
}

}  // namespace

}  // namespace assay
