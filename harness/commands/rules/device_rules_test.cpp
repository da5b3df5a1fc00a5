#include "harness/commands/rules/device_rules.h"

#include "harness/report/record/words.h"
#include "tests/support/records.h"
#include "tests/support/small_op.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace assay::app {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

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

Record ended(const std::string& id, Status status) {
  Record record;
  record.info = {.id = id, .mode = "accu"};
  record.status = status;
  record.reason = "because";
  return record;
}

Expectation skipping(const std::string& match) {
  return {.match = match, .kind = Expectation::Kind::Skip, .reason = "slow"};
}

/// "STATE GLOB: NOTE" of each rule that is to be looked at on the last day of 2026.
std::vector<std::string> notes(std::vector<Expectation> rules, std::vector<Record> records,
                               const RuleScope& scope = {}) {
  Expectations expectations(*parse_date("2026-12-31"));
  expectations.add({Pattern("Acme"), std::move(rules)});
  expectations.add({Pattern("other GPU"), {{.match = "nothing", .reason = "r"}}});
  RunReport report;
  report.run.device.name = "Acme GPU 9";
  report.records = std::move(records);
  std::vector<std::string> lines;
  for (const RuleNote& note : rule_notes(expectations, report, scope))
    lines.push_back(note.state + " " + note.match + ": " + note.note);
  return lines;
}

TEST(RuleNotes, ARuleThatARowNeedsIsNoMatter) {
  EXPECT_THAT(notes({{.match = "a*"}, skipping("b*")},
                    {ended("a1", Status::ExpectedFail), ended("a2", Status::Unsupported),
                     ended("b1", Status::Skipped), ended("b2", Status::Invalid)}),
              IsEmpty());
}

TEST(RuleNotes, ARuleWithoutARowIsStale) {
  EXPECT_THAT(notes({{.match = "a*"}}, {ended("b", Status::Pass)}),
              ElementsAre("stale a*: it matches no row of this run: remove it, or correct what it matches"));
}

TEST(RuleNotes, ARuleWithoutARowNamesWhatMayBeMeant) {
  const std::string stale = ": it matches no row of this run: remove it, or correct what it matches";
  const std::vector<Record> records{ended("view/small/1x16/fused", Status::Pass)};
  EXPECT_THAT(notes({{.match = "veiw/*"}}, records),
              ElementsAre("stale veiw/*" + stale + "; the nearest: view/small/1x16/fused"));
  EXPECT_THAT(
      notes({{.match = "small"}}, records),
      ElementsAre("stale small" + stale + "; '*small*' would match 1, such as view/small/1x16/fused"));
  EXPECT_THAT(
      notes({{.match = "view/*", .impl = "tiled"}}, records),
      ElementsAre("stale view/*" + stale +
                  "; rows with other params, mode or impl have such an id, such as view/small/1x16/fused"));
}

TEST(ExpectationsLines, NameTheFilesOrWhereTheyAreLookedFor) {
  const std::filesystem::path here = std::filesystem::current_path();
  const std::vector<std::filesystem::path> files{here / "cases/expectations/gpu.yaml",
                                                 "/elsewhere/other.yaml"};
  EXPECT_EQ(expectations_lines(files),
            "expectations: cases/expectations/gpu.yaml\nexpectations: /elsewhere/other.yaml\n");
  EXPECT_THAT(expectations_lines({}), testing::HasSubstr("and the nearest one next to or above them"));
}

TEST(RuleNotes, ARuleWhoseRowsDidNotRunIsStale) {
  EXPECT_THAT(notes({{.match = "a*"}}, {ended("a1", Status::Unsupported), ended("a2", Status::Skipped)}),
              ElementsAre("stale a*: none of its rows ran, as a1 is UNSUPPORTED (because): remove it, "
                          "or correct what it matches"));
  EXPECT_THAT(notes({skipping("a*")}, {ended("a", Status::Invalid)}),
              ElementsAre("stale a*: it left out no row, as a is INVALID (because): remove it, or "
                          "correct what it matches"));
}

TEST(RuleNotes, ARuleThatNeverGetsItsTurnIsStale) {
  EXPECT_THAT(notes({{.match = "a*"}, {.match = "a1"}}, {ended("a1", Status::ExpectedFail)}),
              ElementsAre("stale a1: earlier rules match every row that it matches: remove it, or correct "
                          "what it matches"));
}

TEST(RuleNotes, RowsThatWereNotReachedMayStillNeedTheirRule) {
  EXPECT_THAT(notes({{.match = "a*"}}, {ended("a1", Status::Unsupported), ended("a2", Status::Missing)}),
              IsEmpty());
  EXPECT_THAT(notes({skipping("a*")}, {ended("a1", Status::Interrupted)}), IsEmpty());
}

TEST(RuleNotes, RowsThatWereLeftOutMayStillNeedTheirRule) {
  const RuleScope scope{.left_out = {{.id = "a2", .mode = "accu"}}};
  EXPECT_THAT(notes({{.match = "a*"}}, {ended("b", Status::Pass)}, scope), IsEmpty());
  EXPECT_THAT(notes({{.match = "a*"}}, {ended("a1", Status::Unsupported)}, scope), IsEmpty());
  EXPECT_THAT(notes({{.match = "a1"}}, {ended("a1", Status::Unsupported)}, scope), testing::SizeIs(1));
}

TEST(RuleNotes, CaseFilesThatWereNotLoadedMayHoldRowsOfARule) {
  const RuleScope scope{.has_all_cases = [](const std::string&) { return false; }};
  EXPECT_THAT(notes({{.match = "a*"}, {.match = "b*"}}, {ended("b", Status::Unsupported)}, scope), IsEmpty());
}

TEST(RuleNotes, ANarrowedRunLooksOnlyAtRulesOfItsRows) {
  EXPECT_THAT(
      notes({{.match = "a*"}, {.match = "b*"}}, {ended("b", Status::Unsupported)}, {.is_narrowed = true}),
      ElementsAre(testing::StartsWith("stale b*: ")));
}

TEST(RuleNotes, ANarrowedRunLooksAtRulesThatItsSelectionCovers) {
  const auto covers = [](const Expectation& rule) { return rule_covers({.filter = "view/*"}, rule); };
  EXPECT_THAT(notes({{.match = "view/smal/*"}, {.match = "clone/smal/*"}},
                    {ended("view/small/a", Status::Pass)}, {.is_narrowed = true, .covers = covers}),
              ElementsAre(testing::StartsWith("stale view/smal/*: it matches no row of this run")));
}

TEST(RuleCovers, SaysWhetherTheOptionsWouldSelectWhatARuleNames) {
  const Expectation rule{.match = "view/smal*/fused", .mode = "perf"};
  EXPECT_TRUE(rule_covers({}, rule));
  EXPECT_TRUE(rule_covers({.filter = "view/*"}, rule));
  EXPECT_FALSE(rule_covers({.filter = "view/*-*fused"}, rule));
  EXPECT_TRUE(rule_covers({.impls = {"fused"}, .ops = {"clone", "view"}}, rule));
  EXPECT_FALSE(rule_covers({.ops = {"clone"}}, rule));
  EXPECT_FALSE(rule_covers({.impls = {"tiled"}}, rule));
  EXPECT_TRUE(rule_covers({.mode = "perf"}, rule));
  EXPECT_FALSE(rule_covers({.mode = "accu"}, rule));
  EXPECT_FALSE(rule_covers({.nodes = true}, rule));
  EXPECT_FALSE(rule_covers({.values = {"seed=5"}}, rule));
  EXPECT_FALSE(rule_covers({.replays = true}, rule));
}

// ---- rules that are too wide

/// A row with a rule, that ended so.
Record ruled(const std::string& id, Status status, RowInfo info = {}) {
  Record record = ended(id, status);
  info.id = id;
  if (info.mode.empty()) info.mode = "accu";
  record.info = info;
  record.accuracy.emplace();
  if (status == Status::ExpectedFail) {
    record.own_end = OwnEnd{Status::Fail, "wrong"};
    record.accuracy->metric = "wrong_value";
  }
  return record;
}

TEST(RuleNotes, ARuleOfWhichSomeRowsPassIsTooWide) {
  const Status fails = Status::ExpectedFail, passes = Status::UnexpectedPass;
  const std::string only = "`, which only the rows that fail have";
  EXPECT_THAT(notes({{.match = "*"}}, {ruled("a/1", fails), ruled("a/2", passes, {.mode = "perf"})}),
              ElementsAre("wide *: 1 of its 2 rows pass, such as a/2: narrow it with `mode: accu" + only));
  EXPECT_THAT(
      notes({{.match = "*"}}, {ruled("a", fails, {.impl = "tiled"}), ruled("b", passes, {.impl = "fused"})}),
      ElementsAre("wide *: 1 of its 2 rows pass, such as b: narrow it with `impl: tiled" + only));
  EXPECT_THAT(notes({{.match = "*"}},
                    {ruled("a", fails, {.params = "k=3 n=2"}), ruled("b", fails, {.params = "k=4 n=2"}),
                     ruled("c", passes, {.params = "k=3 n=1"})}),
              ElementsAre("wide *: 1 of its 3 rows pass, such as c: narrow it with `params: {n: 2}" + only));
  EXPECT_THAT(
      notes({{.match = "*"}},
            {ruled("op/a/1/x", fails), ruled("op/a/2/x", fails), ruled("op/b/1/x", passes)}),
      ElementsAre("wide *: 1 of its 3 rows pass, such as op/b/1/x: narrow it with `match: \"op/a/*/x\"" +
                  only));
  EXPECT_THAT(
      notes({{.match = "*"}}, {ruled("a", fails), ruled("b", passes), ruled("c", fails)}),
      ElementsAre(
          "wide *: 1 of its 3 rows pass, such as b: narrow it: one rule for each row that fails, such as "
          "`match: \"a\"`"));
  EXPECT_THAT(notes({{.match = "*"}}, {ruled("a", passes)}), IsEmpty()) << "it is wrong, not too wide";
}

TEST(RuleNotes, ARuleWhoseRowsFailInDifferentWaysIsTooWide) {
  Record uncompiled = ruled("b", Status::ExpectedFail);
  uncompiled.accuracy.reset();
  const std::vector<Record> rows{ruled("a", Status::ExpectedFail), uncompiled,
                                 ruled("c", Status::ExpectedFail)};
  EXPECT_THAT(
      notes({{.match = "*"}}, rows),
      ElementsAre("wide *: its rows fail in different ways: 1 row by no_answer, such as b; narrow it with "
                  "`metric: [wrong_value]`, as the other rows fail"));
  EXPECT_THAT(notes({{.match = "*", .metrics = {"wrong_value", "no_answer"}}}, rows), IsEmpty());
}

TEST(UnusedFiles, AreThoseWhoseDeviceIsNoneOfTheRuns) {
  Expectations expectations;
  expectations.add({Pattern("Acme"), {{.match = "*", .where = {"acme.yaml", 3, 5}}}, "Acme"});
  expectations.add({Pattern("Acne"), {{.match = "*", .where = {"typo.yaml", 3, 5}}}, "Acne"});
  expectations.add({Pattern("Empty"), {}, "Empty"});
  const std::vector<std::string> devices{"Acme GPU 9", "other"};
  EXPECT_EQ(
      unused_files_lines(expectations, devices),
      "expectations: no device of this run is meant by typo.yaml: 'Acne' is not in 'Acme GPU 9', 'other'\n");
}

TEST(RuleNotes, AnExpiredRuleIsNotedOnce) {
  const auto until = [](const char* match, const char* day) {
    return Expectation{.match = match, .expires = parse_date(day)};
  };
  const std::string note =
      ": it expired after 2026-12-30: remove it, or check whether it still holds and give it a new date";
  const std::vector<Expectation> rules{until("a", "2026-12-30"), until("a", "2026-12-31"),
                                       until("b", "2026-12-30")};
  EXPECT_THAT(notes(rules, {ended("a", Status::ExpectedFail)}),
              ElementsAre("expired a" + note, "expired b" + note));
  EXPECT_THAT(notes(rules, {ended("a", Status::ExpectedFail)}, {.is_narrowed = true}),
              ElementsAre("expired a" + note));
}

TEST(RowsLeftOut, AreThoseOfTheLoadedCasesThatWereNotPlanned) {
  const Op op = test::flip_op();
  std::vector<Case> cases{test::make_case(op, test::shape_params({4}), "a"),
                          test::make_case(op, test::shape_params({4}), "b")};
  cases[0].mode = Mode::Both;
  cases[1].mode = Mode::Accu;
  RunReport report;
  report.records = {ended("flip/a/plain", Status::Pass)};
  std::vector<std::string> left_out;
  for (const RowInfo& row : rows_left_out(cases, report)) left_out.push_back(row.id + " " + row.mode);
  EXPECT_THAT(left_out, ElementsAre("flip/a/plain perf", "flip/b/plain accu"));
}

}  // namespace

}  // namespace assay::app
