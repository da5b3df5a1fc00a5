#include "harness/report/console/changes.h"

#include "tests/support/records.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

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
