#include "harness/commands/judge/judgement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace assay::app {
namespace {

using ::testing::HasSubstr;

Record record(Status status, const std::string& reason = "", const std::string& metric = "") {
  Record made{.info = {.id = "op/row"}, .status = status, .reason = reason};
  if (!metric.empty()) made.accuracy = AccuracyResult{.metric = metric};
  return made;
}

Record timed(double ratio, double low, double high) {
  Record made = record(Status::Pass);
  made.perf = PerfResult{.time_us_p50 = 10 * ratio};
  made.comparison =
      Comparison{.baseline = "op/base", .ratio = ratio, .ratio_low = low, .ratio_high = high, .blocks = 10};
  return made;
}

JudgedRow passed(Stage stage) {
  return judged_row(stage, record(Status::Pass));
}

/// Right in every stage, and timed.
Judgement honest() {
  Judgement made;
  for (const Stage stage : {Stage::Accuracy, Stage::Secret, Stage::Fuzz}) made.rows.push_back(passed(stage));
  made.rows.push_back(judged_row(Stage::Performance, timed(0.6, 0.5, 0.7)));
  made.rows.push_back(judged_row(Stage::Drawn, timed(0.5, 0.4, 0.6)));
  for (JudgedRow& row : made.rows) row.op = "op";
  return made;
}

/// Honest but for the two ratios.
Judgement with_ratios(const Record& at_public, const Record& at_drawn) {
  Judgement made = honest();
  made.rows[3] = judged_row(Stage::Performance, at_public);
  made.rows[4] = judged_row(Stage::Drawn, at_drawn);
  return made;
}

constexpr std::array all_stages{Stage::Accuracy, Stage::Secret, Stage::Fuzz, Stage::Performance,
                                Stage::Drawn};

std::string word(const Record& of, Stage stage = Stage::Accuracy) {
  const JudgedRow row = judged_row(stage, of);
  return row.reasons.empty() ? "" : row.reasons.front().word;
}

TEST(Judgement, OfRightRowsThatAreTimedIsTrusted) {
  const Judgement made = honest();
  EXPECT_EQ(made.verdict(), Verdict::Trusted);
  EXPECT_TRUE(made.correct());
  ASSERT_TRUE(made.ratio());
  EXPECT_NEAR(made.ratio()->geometric_mean, 0.5, 1e-12);
  EXPECT_NEAR(made.ratio()->low, 0.4, 1e-12);
  EXPECT_NEAR(made.ratio()->high, 0.6, 1e-12);
  ASSERT_TRUE(made.public_ratio()) << "which the submission may know, and which earns nothing";
  EXPECT_NEAR(made.public_ratio()->geometric_mean, 0.6, 1e-12);
}

TEST(Judgement, AMeanIsGivenWhereItsIntervalIsNarrow) {
  EXPECT_TRUE((OverallRatio{.geometric_mean = 0.5, .low = 0.48, .high = 0.52, .rows = 1}.is_narrow()));
  EXPECT_FALSE((OverallRatio{.geometric_mean = 0.5, .low = 0.47, .high = 0.53, .rows = 1}.is_narrow()));
}

TEST(Judgement, FasterAtPublicPointsIsDistrust) {
  Judgement made = with_ratios(timed(0.5, 0.45, 0.55), timed(1, 0.9, 1.1));
  note_faster_at_public_points(made);
  EXPECT_EQ(made.verdict(), Verdict::Distrusted);
  ASSERT_EQ(made.findings.size(), 1U);
  EXPECT_EQ(made.findings[0].word, "faster_at_public_points");
  EXPECT_THAT(made.findings[0].text, HasSubstr("0.500 [0.450, 0.550] at the repository's points and 1.000"));
}

TEST(Judgement, ALittleOrPerhapsFasterAtPublicPointsIsNot) {
  for (Judgement made : {with_ratios(timed(0.5, 0.2, 0.95), timed(1, 0.9, 1.1)),  // intervals overlap
                         with_ratios(timed(0.505, 0.351, 0.582), timed(1.217, 0.775, 1.958)),  // noise
                         with_ratios(timed(0.8, 0.79, 0.81), timed(1, 0.99, 1.01)),  // sizes suit tiles less
                         with_ratios(timed(1, 0.9, 1.1), timed(0.5, 0.45, 0.55))}) {
    note_faster_at_public_points(made);
    EXPECT_EQ(made.verdict(), Verdict::Trusted);
  }
}

TEST(Judgement, FindingsAreEvidenceOrMistakes) {
  Judgement made = honest();
  made.findings = {{"too_large", "'a.comp' has more than 4194304 bytes"}};
  EXPECT_EQ(made.verdict(), Verdict::Wrong);
  EXPECT_FALSE(made.correct());
  made.findings.push_back({"symbolic_link", "'b.comp' is a symbolic link"});
  EXPECT_EQ(made.verdict(), Verdict::Distrusted);
}

TEST(Judgement, ReasonsAreQuotedInPart) {
  const JudgedRow row =
      judged_row(Stage::Accuracy, record(Status::Fail, std::string(100'000, 'x') + "\xE2\x80\xA6"));
  EXPECT_EQ(row.reasons.front().text.size(), 2048U);
  std::string cut = std::string(2044, 'x');
  for (int i = 0; i < 10; ++i) cut += "\xE2\x80\xA6";
  EXPECT_EQ(judged_row(Stage::Accuracy, record(Status::Fail, cut)).reasons.front().text,
            std::string(2044, 'x') + "...")
      << "no part of a character is left";
}

TEST(Judgement, WhatTheCompilerCannotFinishDoesNotCompile) {
  EXPECT_EQ(
      word(record(Status::Fail, "mine/a.comp: compiling it failed: it took more than 20 s and was stopped")),
      "does_not_compile");
  EXPECT_EQ(
      word(record(Status::Fail, "mine/a.comp: compiling it failed: it takes more than 2 GiB of memory")),
      "does_not_compile");
}

TEST(Judgement, SpirvThatNoKernelMayHaveIsDistrusted) {
  for (const char* reason :
       {"a.comp: its SPIR-V has a second decoration Binding of one object, which no kernel may have",
        "a.comp: its SPIR-V is invalid, which no kernel may be: no"}) {
    EXPECT_EQ(word(record(Status::Fail, reason)), "refused_spirv");
    EXPECT_FALSE(judged_row(Stage::Accuracy, record(Status::Fail, reason)).trusted);
  }
}

TEST(Judgement, RatiosAreAveragedAsLogarithms) {
  Judgement made = honest();
  made.rows.push_back(judged_row(Stage::Drawn, timed(2, 1, 4)));
  made.rows[4] = judged_row(Stage::Drawn, timed(0.5, 0.25, 1));
  const auto ratio = made.ratio();
  ASSERT_TRUE(ratio);
  EXPECT_NEAR(ratio->geometric_mean, 1, 1e-12);
  EXPECT_NEAR(ratio->high, std::exp(std::sqrt(2) * std::log(2) / 2), 1e-12);
  EXPECT_NEAR(ratio->low, 1 / ratio->high, 1e-12);
  EXPECT_EQ(ratio->rows, 2U);
}

TEST(Judgement, OneWrongRowMakesItWrongAndWithoutATime) {
  for (const Status status : {Status::Fail, Status::Crash, Status::Timeout, Status::Flaky, Status::DeviceLost,
                              Status::ExpectedFail, Status::Unsupported}) {
    Judgement made = honest();
    made.rows.push_back(judged_row(Stage::Fuzz, record(status, "some words")));
    EXPECT_EQ(made.verdict(), Verdict::Wrong) << name_of(status);
    EXPECT_FALSE(made.correct());
    EXPECT_FALSE(made.ratio());
  }
}

/// An honest kernel was wrong, as a fuzzed point had an index that its reference did not take.
TEST(Judgement, ARowWhoseReferenceFailsCountsNeitherForNorAgainst) {
  const Record failed = record(Status::Fail, "running the reference r.py: IndexError: 9 is out of bounds");
  for (const Stage stage : {Stage::Secret, Stage::Fuzz}) {
    Judgement made = honest();
    made.rows.push_back(judged_row(stage, failed));
    EXPECT_EQ(word(failed, stage), "reference_failed");
    note_wrong_on_secret_data(made);
    EXPECT_EQ(made.verdict(), Verdict::Trusted) << name_of(stage);
  }
  Judgement made = honest();
  made.rows[2] = judged_row(Stage::Fuzz, failed);
  note_empty_stages(made, all_stages, std::array{std::string("op")});
  EXPECT_EQ(made.verdict(), Verdict::Incomplete) << "no fuzzed row shows anything";
  made = honest();
  made.rows.push_back(judged_row(Stage::Accuracy, failed));
  EXPECT_EQ(made.verdict(), Verdict::Incomplete) << "a case of the repository has no answer";
  const Record quoting = record(Status::Fail, "x.comp:1: error: running the reference r.py: IndexError");
  EXPECT_EQ(judged_row(Stage::Fuzz, quoting).correct, false) << "words of the submission";
}

/// A timed row is checked on its own data before, so that it has an accuracy.
TEST(Judgement, ATimedRowWhoseReferenceFailsOnSecretDataCountsNeitherForNorAgainst) {
  Record failed = record(Status::Fail, "running the reference r.py: ValueError: it takes no such data");
  failed.accuracy = AccuracyResult{};
  for (const Stage stage : {Stage::Performance, Stage::Drawn}) {
    Judgement made = honest();
    made.rows.push_back(judged_row(stage, failed));
    EXPECT_EQ(word(failed, stage), "reference_failed");
    EXPECT_FALSE(made.rows.back().correct.has_value());
    EXPECT_EQ(made.verdict(), Verdict::Trusted) << name_of(stage);
  }
  failed.accuracy.reset();
  EXPECT_TRUE(judged_row(Stage::Performance, failed).incomplete) << "a case of the repository has no answer";
}

JudgedRow right_row(const std::string& id) {
  JudgedRow row = passed(Stage::Accuracy);
  row.id = id;
  return row;
}

JudgedRow wrong_row(const std::string& id) {
  JudgedRow row = judged_row(Stage::Accuracy, record(Status::Fail, "wrong", "wrong_value"));
  row.id = id;
  return row;
}

/// After a time limit there may be fewer plain rows, or none.
TEST(Judgement, ARowIsRightIfItIsSoInThePlainRunToo) {
  std::vector<JudgedRow> rows{right_row("a"), right_row("b"), right_row("c"), wrong_row("d")};
  need_plain_rows(rows, std::vector{right_row("a"), wrong_row("b"), right_row("d")});
  EXPECT_EQ(rows[0].correct, true);
  EXPECT_EQ(rows[1].correct, false);
  EXPECT_FALSE(rows[2].correct.has_value()) << "it has no plain row";
  EXPECT_TRUE(rows[2].incomplete);
  EXPECT_EQ(rows[2].reasons.back().word, "not_run");
  EXPECT_EQ(rows[3].correct, false);
}

TEST(Judgement, DistrustGoesBeforeWrong) {
  Judgement made = honest();
  made.rows.push_back(judged_row(Stage::Accuracy, record(Status::Fail, "wrong", "wrong_value")));
  made.rows.push_back(
      judged_row(Stage::Performance, record(Status::Suspect, "the time is too short, the work is not done")));
  EXPECT_EQ(made.verdict(), Verdict::Distrusted);
  EXPECT_FALSE(made.correct());
}

TEST(Judgement, ASuspectRowIsRightAndDistrusted) {
  Judgement made = honest();
  made.rows.push_back(judged_row(Stage::Performance, record(Status::Suspect, "words that are new")));
  EXPECT_TRUE(made.correct());
  EXPECT_EQ(made.verdict(), Verdict::Distrusted);
  EXPECT_FALSE(made.ratio());
  EXPECT_EQ(made.rows.back().reasons.front().word, "suspect");
}

TEST(Judgement, AFindingOfTheSubmissionIsDistrust) {
  Judgement made = honest();
  made.findings.push_back({"symbolic_link", "..."});
  EXPECT_EQ(made.verdict(), Verdict::Distrusted);
}

TEST(Judgement, WhatWasNotRunIsNeverTrusted) {
  for (const Status status : {Status::Missing, Status::Interrupted, Status::Skipped, Status::OutOfMemory}) {
    Judgement made = honest();
    made.rows.push_back(judged_row(Stage::Performance, record(status, "words")));
    EXPECT_EQ(made.verdict(), Verdict::Incomplete) << name_of(status);
    EXPECT_TRUE(made.correct()) << "what was run was right";
    EXPECT_FALSE(made.ratio());
  }
}

TEST(Judgement, ATimeWithoutABaselineIsIncomplete) {
  Record alone = timed(1, 1, 1);
  alone.comparison->ratio = 0;
  alone.comparison->note = "its baseline op/base is FAIL";
  const JudgedRow row = judged_row(Stage::Performance, alone);
  EXPECT_TRUE(row.incomplete);
  ASSERT_EQ(row.reasons.size(), 1U);
  EXPECT_EQ(row.reasons[0].word, "not_compared");
  EXPECT_THAT(row.reasons[0].text, HasSubstr("its baseline op/base is FAIL"));
}

TEST(Judgement, AStageThatShowsNothingIsNamed) {
  Judgement made = honest();
  made.rows[2] = judged_row(Stage::Fuzz, record(Status::Mistrusted, "constant would pass too", "constant"));
  made.rows[2].op = "op";
  EXPECT_EQ(made.rows[2].reasons.front().word, "mistrusted");
  EXPECT_FALSE(made.rows[2].correct) << "it proves neither";
  note_empty_stages(made, all_stages, std::array<std::string, 1>{"op"});
  ASSERT_EQ(made.missing.size(), 1U);
  EXPECT_EQ(made.missing[0].word, "nothing_shown");
  EXPECT_THAT(made.missing[0].text, HasSubstr("no row of op 'op' has a result in stage 'fuzz'"));
  EXPECT_EQ(made.verdict(), Verdict::Incomplete);
}

TEST(Judgement, AnOpThatNoRowRunsIsNamed) {
  Judgement made = honest();
  note_empty_stages(made, all_stages, std::array<std::string, 2>{"op", "other"});
  EXPECT_EQ(made.missing.size(), all_stages.size());
  EXPECT_THAT(made.missing[0].text, HasSubstr("'other'"));
  EXPECT_EQ(made.verdict(), Verdict::Incomplete);
}

TEST(Judgement, OfNothingIsIncomplete) {
  EXPECT_EQ(Judgement{}.verdict(), Verdict::Incomplete);
  EXPECT_FALSE(Judgement{}.correct());
}

TEST(Judgement, WrongOnSecretDataAloneIsDistrust) {
  Judgement made = honest();
  made.rows[1] = judged_row(Stage::Secret, record(Status::Fail, "y[0]: expected 1, got 2", "wrong_value"));
  note_wrong_on_secret_data(made);
  EXPECT_EQ(made.verdict(), Verdict::Distrusted);
  EXPECT_EQ(made.rows[1].reasons.front().word, "wrong_on_secret_data");
  EXPECT_EQ(made.rows[1].reasons.back().word, "wrong_value");

  made = honest();
  made.rows[0] = judged_row(Stage::Accuracy, record(Status::Fail, "wrong", "wrong_value"));
  made.rows[1] = judged_row(Stage::Secret, record(Status::Fail, "wrong", "wrong_value"));
  note_wrong_on_secret_data(made);
  EXPECT_EQ(made.verdict(), Verdict::Wrong) << "it is wrong on its own data too";
}

TEST(JudgedRow, HasAWordForWhatTheEngineSays) {
  EXPECT_EQ(word(record(Status::Fail, "...: what the program before left there could spare ...")),
            "reads_output");
  EXPECT_EQ(word(record(Status::Fail, "an input: what it leaves there the next program finds")),
            "writes_input");
  EXPECT_EQ(word(record(Status::Fail,
                        "the shader reads set 0, binding 3, where the scratch 's' is bound, which no "
                        "dispatch before it writes: what the program before left there could ...")),
            "reads_old_scratch");
  EXPECT_EQ(word(record(Status::Fail,
                        "the timed runs changed the scratch 's', which must hold zeros after each run ...")),
            "changes_when_timed");
  EXPECT_EQ(
      word(record(Status::Fail, "which dispatch 'a' has written after it had read scratch that it ...")),
      "keeps_scratch");
  EXPECT_EQ(
      word(record(Status::Fail, "... and could spare itself the work. Give the dispatch a scratch ...")),
      "keeps_scratch");
  EXPECT_EQ(word(record(Status::Fail, "the shader uses the SPIR-V capability ShaderClockKHR: ...")),
            "refused_capability");
  EXPECT_EQ(word(record(Status::Suspect, "faster when repeated: 72 us in a batch, ...")),
            "faster_when_repeated");
  EXPECT_EQ(word(record(Status::Suspect, "faster on known data: 72 us on the row's own data, ...")),
            "faster_on_known_data");
  EXPECT_EQ(word(record(Status::Fail, "the timed runs changed memory that they may not write: 'x' was ...")),
            "changes_when_timed");
  EXPECT_EQ(word(record(Status::Fail, "wrong on data of a seed that it could not know", "wrong_value")),
            "wrong_on_secret_data");
  EXPECT_EQ(word(record(Status::Fail,
                        "the timed runs did not compute the answer that was judged, so no time is reported")),
            "changes_when_timed");
  EXPECT_EQ(word(record(Status::Fail, "x.comp:2: error: 'nothing' : undeclared identifier")),
            "does_not_compile");
  EXPECT_EQ(word(record(Status::Fail, "y[0]: expected 1, got 2", "wrong_value")), "wrong_value");
  EXPECT_EQ(word(record(Status::Crash, "the worker was ended by SIGSEGV")), "crash");
  EXPECT_EQ(word(record(Status::Pass)), "");
  for (const char* one : {"reads_output", "writes_input", "reads_old_scratch", "keeps_scratch",
                          "refused_capability", "faster_when_repeated", "faster_on_known_data",
                          "above_ceilings", "wrong_on_secret_data", "changes_when_timed"})
    EXPECT_TRUE(is_distrust(one)) << one;
  for (const char* one : {"wrong_value", "does_not_compile", "crash", "mistrusted", "not_timed"})
    EXPECT_FALSE(is_distrust(one)) << one;
}

TEST(JudgedRow, TellsTheBaselinesTime) {
  Record baseline = record(Status::Pass);
  baseline.perf = PerfResult{.time_us_p50 = 20};
  const JudgedRow row = judged_row(Stage::Performance, timed(0.5, 0.4, 0.6), &baseline);
  EXPECT_EQ(row.median_us, 5);
  EXPECT_EQ(row.baseline_us, 20);
  ASSERT_TRUE(row.ratio);
  EXPECT_EQ(row.ratio->pairs, 10);
}

}  // namespace
}  // namespace assay::app
