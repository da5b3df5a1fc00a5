#include "harness/commands/rules/expected_end.h"

#include "harness/report/record/words.h"
#include "tests/support/records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace assay::app {
namespace {

const Expectation off_by_one{
    .match = "*", .metrics = {"wrong_value"}, .reason = "off by one", .where = {"gpu.yaml", 3, 5}};

TEST(FailureMetric, IsOneThatRulesKnow) {
  const auto is_known = [](std::string_view metric) {
    return std::ranges::find(failure_metrics(), metric) != failure_metrics().end();
  };
  for (const MetricWords& words : known_metrics()) EXPECT_TRUE(is_known(words.metric)) << words.metric;
  for (const std::string_view other : {no_answer, layer_messages, later_run}) EXPECT_TRUE(is_known(other));
  EXPECT_EQ(failure_metrics().size(), known_metrics().size() + 3);
}

TEST(FailureMetric, SaysHowARowFailed) {
  const AccuracyResult wrong{.metric = "unwritten"}, right{};
  EXPECT_EQ(failure_metric(Status::Fail, &wrong, 2), "unwritten");
  EXPECT_EQ(failure_metric(Status::Fail, nullptr, 0), "no_answer");
  EXPECT_EQ(failure_metric(Status::Fail, &right, 2), "layer_messages");
  EXPECT_EQ(failure_metric(Status::Fail, &right, 0), "later_run");
  EXPECT_EQ(failure_metric(Status::Crash, nullptr, 0), "");
}

Expectations rules_of(std::vector<Expectation> rules) {
  Expectations expectations(*parse_date("2026-12-31"));
  expectations.add({Pattern("Acme"), std::move(rules)});
  return expectations;
}

/// The record after a run with these rules, and then again with others: "EXPECTED_FAIL: REASON".
std::string judged_again(Record record, std::vector<Expectation> before, std::vector<Expectation> now) {
  RunReport report;
  report.run.device.name = "Acme GPU 9";
  report.records = {std::move(record)};
  expect_again(report, rules_of(std::move(before)));
  expect_again(report, rules_of(std::move(now)));
  const Record& after = report.records.front();
  return std::string(name_of(after.status)) + ": " + after.reason;
}

TEST(ExpectAgain, JudgesByTheRulesThatThereAreNow) {
  const Record failed = test::failed("a");
  EXPECT_EQ(judged_again(failed, {}, {off_by_one}),
            "EXPECTED_FAIL: expected (off by one): 1 of 2 outputs is wrong");
  EXPECT_EQ(judged_again(failed, {off_by_one}, {}), "FAIL: 1 of 2 outputs is wrong");
  EXPECT_EQ(judged_again(failed, {off_by_one}, {{.match = "*", .metrics = {"unwritten"}}}),
            "FAIL: 1 of 2 outputs is wrong");
  EXPECT_EQ(judged_again(failed, {off_by_one}, {{.match = "*", .reason = "other words"}}),
            "EXPECTED_FAIL: expected (other words): 1 of 2 outputs is wrong");
  EXPECT_EQ(judged_again(test::passed("a"), {off_by_one}, {}), "PASS: ");
  EXPECT_THAT(judged_again(test::passed("a"), {}, {off_by_one}),
              testing::StartsWith(
                  "UNEXPECTED_PASS: it passes, but gpu.yaml:3 expects FAIL (wrong_value) (off by one)"));
}

}  // namespace
}  // namespace assay::app
