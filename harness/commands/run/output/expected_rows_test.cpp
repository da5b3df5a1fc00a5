#include "harness/commands/run/output/expected_rows.h"

#include "harness/commands/rules/expected_end.h"
#include "harness/report/journal/report_builder.h"

#include <gtest/gtest.h>

namespace assay::app {
namespace {

const Expectation rule{.match = "op/a*",
                       .statuses = {Status::Fail, Status::Crash},
                       .reason = "a bug of the driver",
                       .link = "https://example.org/7",
                       .where = {"gpu.yaml", 3, 5}};

/// A journal's end of what a run of these rows told through ExpectedRows.
class RulesBench {
 public:
  RulesBench() {
    Expectations::Device device{Pattern("Acme"),
                                {rule,
                                 {.match = "*", .mode = "perf", .reason = "slow"},
                                 {.match = "op/c", .metrics = {"wrong_value"}, .reason = "off by one"}}};
    expectations_.add(std::move(device));
    rows_.run({.device = {.name = "Acme GPU 9"}});
    const RowInfo plan[] = {{.id = "op/a", .mode = "accu"},
                            {.id = "op/a/cold", .mode = "perf", .cache = "cold"},
                            {.id = "op/b", .mode = "accu"},
                            {.id = "op/b", .mode = "perf"},
                            {.id = "op/c", .mode = "accu"}};
    rows_.plan(plan);
  }

  Record ended(RowIndex row, RowEnd end, const std::string& metric = "") {
    rows_.begin(row);
    if (!metric.empty()) rows_.judged(row, {.metric = metric});
    rows_.end(row, end);
    return builder_.record(row);
  }

 private:
  Expectations expectations_;
  ReportBuilder builder_;
  ExpectedRows rows_{expectations_, "Acme GPU 9", builder_};
};

TEST(ExpectedRows, AnExpectedFailureIsFineAndKeepsItsReason) {
  const Record record = RulesBench().ended(2, {.status = Status::Fail, .reason = "wrong"});
  EXPECT_EQ(record.status, Status::Fail) << "no rule is for this row";
  const Record expected = RulesBench().ended(3, {.status = Status::Fail, .reason = "wrong"});
  EXPECT_EQ(expected.status, Status::ExpectedFail);
  EXPECT_EQ(expected.reason, "expected (slow): wrong");
}

TEST(ExpectedRows, AnEndThatAnotherProcessToldIsOneLikeAllOthers) {
  const Record record =
      RulesBench().ended(0, {.status = Status::Crash, .reason = "the worker ended by SIGSEGV"});
  EXPECT_EQ(record.status, Status::ExpectedFail);
  EXPECT_EQ(record.reason,
            "expected (a bug of the driver, https://example.org/7): CRASH: the worker ended by SIGSEGV");
}

TEST(ExpectedRows, WhatIsNotExpectedStaysAsItIs) {
  for (const Status status : {Status::Timeout, Status::Skipped, Status::Unsupported, Status::Missing,
                              Status::DeviceLost, Status::ExpectedFail}) {
    const Record record = RulesBench().ended(0, {.status = status, .reason = "so it is"});
    EXPECT_EQ(record.status, status);
    EXPECT_EQ(record.reason, "so it is");
  }
}

TEST(ExpectedRows, ARowMayEndTwice) {
  RulesBench bench;
  EXPECT_EQ(bench.ended(0, {.status = Status::Crash, .reason = "SIGSEGV"}).status, Status::ExpectedFail);
  EXPECT_EQ(bench.ended(0, {.status = Status::Pass}).status, Status::UnexpectedPass);
}

TEST(ExpectedRows, APassThatWasExpectedToFailIsUnexpectedAndHasNoTime) {
  const Record record = RulesBench().ended(1, {.status = Status::Pass, .perf = PerfResult{}});
  EXPECT_EQ(record.status, Status::UnexpectedPass);
  EXPECT_EQ(record.reason,
            "it passes, but gpu.yaml:3 expects FAIL or CRASH (a bug of the driver, https://example.org/7); "
            "remove the rule, or narrow it to the rows that still fail");
  EXPECT_FALSE(record.perf.has_value());
}

TEST(ExpectedRows, ARuleWithAMetricHidesNoOtherFailure) {
  RulesBench bench;
  EXPECT_EQ(bench.ended(4, {.status = Status::Fail}, "wrong_value").status, Status::ExpectedFail);
  EXPECT_EQ(bench.ended(4, {.status = Status::Fail}, "unwritten").status, Status::Fail);
  EXPECT_EQ(bench.ended(4, {.status = Status::Fail, .reason = "the shader does not compile"}).status,
            Status::Fail);
}

TEST(ExpectedRows, RulesThatLeaveRowsOutAreTheEngines) {
  const RowEnd end = as_expected({.status = Status::Pass}, {.kind = Expectation::Kind::Skip}, nullptr);
  EXPECT_EQ(end.status, Status::Pass);
}

}  // namespace
}  // namespace assay::app
