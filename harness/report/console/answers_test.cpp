#include "harness/report/console/answers.h"

#include "harness/report/record/compared_rows.h"
#include "tests/support/error_text.h"
#include "tests/support/records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::size_t answer_width = 80;

std::vector<const Record*> pointers(const std::vector<Record>& records) {
  std::vector<const Record*> rows;
  for (const Record& record : records) rows.push_back(&record);
  return rows;
}

Record right(const std::string& name, double err_over_bound) {
  Record record = test::passed(name);
  record.info.id = name;
  record.accuracy->err_over_bound = err_over_bound;
  return record;
}

Record timed(const std::string& name, const std::string& impl, double time_us, double pct_peak) {
  Record record = test::timed(name, impl, time_us);
  record.info.id = name + "/" + impl;
  record.perf->pct_peak_bw = pct_peak;
  return record;
}

TEST(Worst, AreTheFailuresThenTheLargestShareOfABound) {
  Record wrong = test::failed("wrong");
  wrong.info.id = "wrong";
  const std::vector<Record> records{right("exact", 0), right("near", 0.9), wrong, right("half", 0.5),
                                    timed("fast", "fused", 1, 5)};
  const std::string text = worst_text(pointers(records), 3, answer_width);
  EXPECT_THAT(text, StartsWith("3 of 4 rows, failures first, then by the share of the accuracy bound"));
  const std::size_t at_wrong = text.find("wrong (accu)"), at_near = text.find("near (accu)"),
                    at_half = text.find("half (accu)");
  EXPECT_LT(at_wrong, at_near);
  EXPECT_LT(at_near, at_half);
  EXPECT_THAT(text, Not(HasSubstr("exact")));
  EXPECT_THAT(text, HasSubstr("PASS          0.9"));
}

TEST(Slowest, AreTheLongestTimesOfRowsThatPassed) {
  Record wrong = timed("wrong", "fused", 99, 5);
  wrong.status = Status::Fail;
  const std::vector<Record> records{timed("a", "fused", 2.5, 5), timed("b", "fused", 10, 50), wrong,
                                    timed("c", "fused", 7, 12)};
  const std::string text = slowest_text(pointers(records), 2, answer_width);
  EXPECT_THAT(text, StartsWith("2 of 3 rows, the longest median time first\n"));
  EXPECT_LT(text.find("b/fused"), text.find("c/fused"));
  EXPECT_THAT(text, Not(HasSubstr("wrong")));
  EXPECT_THAT(text, Not(HasSubstr("a/fused")));
}

TEST(FurthestFromCeiling, AreThoseWithTheMostTimeToGain) {
  std::vector<Record> records{timed("small", "fused", 2.5, 5), timed("large", "fused", 100, 50),
                              timed("none", "fused", 7, 0), timed("layer", "fused", 10, 40)};
  records[3].info.calls = 32;
  const std::string text = furthest_from_ceiling_text(pointers(records), 10, answer_width);
  EXPECT_THAT(text, StartsWith("3 of 3 rows, the most time to gain at a row's nearer ceiling first"));
  EXPECT_LT(text.find("layer/fused"), text.find("large/fused")) << "192 us in a step, 50 us once";
  EXPECT_LT(text.find("large/fused"), text.find("small/fused")) << "5 % of 2.5 us is little";
  EXPECT_THAT(text, HasSubstr("192.00"));
  EXPECT_THAT(text, HasSubstr("\n1 row without a known ceiling\n"));
}

TEST(Grouped, ByImplShowsTheRatioAndTheFastest) {
  std::vector<Record> records{timed("a", "fused", 10, 50), timed("a", "plain", 40, 10),
                              timed("b", "fused", 30, 40), timed("b", "plain", 20, 20)};
  records[2].info.group = records[3].info.group = "b";
  note_ratios(records);
  const std::string text = grouped_text(pointers(records), "impl", answer_width);
  EXPECT_THAT(text, StartsWith("4 rows by impl; "));
  EXPECT_THAT(text, HasSubstr("     2      2       45.0    0.5   1 of 2  shuffle fused\n"));
  EXPECT_THAT(text, HasSubstr("     2      2       15.0  0.816   1 of 2  shuffle plain\n"));
}

TEST(Grouped, ByAnythingElseCountsRowsAndFailures) {
  Record wrong = test::failed("wrong");
  wrong.info.dtype = "f32";
  Record other = right("right", 0.25);
  other.info.dtype = "f32";
  Record unknown = right("unknown", 0);
  unknown.info.dtype = "";
  const std::string text = grouped_text(pointers({wrong, other, unknown}), "dtype", answer_width);
  EXPECT_THAT(text, HasSubstr("     2       1  "));
  EXPECT_THAT(text, HasSubstr("  -\n"));
  EXPECT_THAT(test::error_of([&] { grouped_text({}, "colour", answer_width); }),
              HasSubstr("--group: rows cannot be grouped by 'colour'; known are impl, op, dtype"));
}

TEST(Grouped, ByFailureLeavesOutWhatPasses) {
  Record diagnosed = test::failed("zeros");
  diagnosed.accuracy->diagnosis = Diagnosis{"zero_point", "as if zero_point were 0", 1};
  const std::vector<Record> records{test::failed("wrong"), diagnosed, right("right", 0.25)};
  const std::string text = grouped_text(pointers(records), "failure", answer_width);
  EXPECT_THAT(text, HasSubstr("  FAIL zero point\n"));
  EXPECT_THAT(text, HasSubstr("  FAIL wrong value\n"));
  EXPECT_THAT(text, Not(HasSubstr("  -\n")));
}

TEST(RowsOfGroup, AreAllListedWithTheirStory) {
  std::vector<Record> records;
  for (int i = 0; i < 60; ++i) {
    records.push_back(test::failed("f" + std::to_string(i)));
    records.back().accuracy->diagnosis = Diagnosis{"tail", "only the last of " + std::to_string(i), 1};
  }
  EXPECT_EQ(group_of(records[0], "failure"), "FAIL tail");
  const std::string text = rows_of_group_text(pointers(records), "failure=FAIL tail", 200);
  EXPECT_THAT(text, StartsWith("60 rows of failure=FAIL tail\n"));
  EXPECT_THAT(text, HasSubstr("shuffle/f59/1x16x4x8/4W4C.4W4C/fused (accu)  only the last of 59\n"));
  EXPECT_THAT(rows_of_group_text(pointers({timed("t", "fused", 2.5, 5)}), "impl=*", 200),
              HasSubstr("  PASS    2.50        5.0  t/fused\n"));
}

TEST(Answers, LetNoControlCharacterOfOthersThrough) {
  Record odd = timed("odd", "fused", 2, 5);
  odd.info.id = odd.info.op = test::nasty;
  const std::vector<Record> records{odd};
  for (const std::string& text : {slowest_text(pointers(records), 9, answer_width),
                                  furthest_from_ceiling_text(pointers(records), 9, answer_width),
                                  grouped_text(pointers(records), "op", answer_width)}) {
    EXPECT_EQ(text.find('\x1b'), text.npos);
  }
}

}  // namespace
}  // namespace assay
