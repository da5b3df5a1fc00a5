#include "harness/commands/run/output/rule_notes.h"

#include "tests/support/small_op.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::app {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

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
