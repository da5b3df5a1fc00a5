#include "harness/report/record/compared_rows.h"

#include "harness/report/journal/report_builder.h"
#include "tests/support/tell.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

std::vector<Block> blocks_of(const std::vector<std::pair<int, double>>& rounds) {
  std::vector<Block> blocks;
  for (const auto& [round, ns] : rounds) blocks.push_back({.round = round, .samples_ns = {ns, ns}});
  return blocks;
}

TEST(RatioInRounds, PairsTheBlocksOfOneRound) {
  const auto ratio = ratio_in_rounds(blocks_of({{0, 10}, {1, 20}, {4, 80}}),
                                     blocks_of({{1, 10}, {2, 1000}, {4, 20}, {5, 1000}}));
  ASSERT_TRUE(ratio);
  EXPECT_EQ(ratio->pairs, 2);
  EXPECT_EQ(ratio->median, 3) << "between 20/10 and 80/20";
}

TEST(RatioInRounds, IsOfProgramsNotOfSubmissions) {
  const std::vector<Block> ten{{.batch = 10, .samples_ns = {1000}}};
  EXPECT_EQ(ratio_in_rounds(ten, blocks_of({{0, 50}})).value().median, 2);
}

TEST(RatioInRounds, NeedsARoundThatBothHad) {
  EXPECT_FALSE(ratio_in_rounds(blocks_of({{0, 10}}), blocks_of({{1, 10}})));
  EXPECT_FALSE(ratio_in_rounds({}, blocks_of({{1, 10}})));
}

/// The regret of a row of impl auto that takes 12 us, among these.
std::optional<double> regret_among(const std::vector<Record>& others,
                                   const std::string& forms = "x=buffer/4W4C") {
  std::vector<Record> records{test::timed("a", "auto", 12)};
  records[0].perf->impl_auto = "fused";
  records[0].info.forms = forms;
  records.insert(records.end(), others.begin(), others.end());
  note_regrets(records);
  for (std::size_t i = 1; i < records.size(); ++i) EXPECT_FALSE(records[i].perf->regret_pct) << i;
  return records[0].perf->regret_pct;
}

Record rival(double time_us, const std::string& forms = "x=buffer/4W4C") {
  Record record = test::timed("a", "fused", time_us);
  record.info.forms = forms;
  return record;
}

TEST(Regret, IsWhatTheChoiceCostsAgainstTheBestOther) {
  EXPECT_NEAR(regret_among({rival(30), rival(10), rival(20)}).value(), 20, 1e-9);
}

TEST(Regret, RowsOfOtherDataOrAnotherCacheAreNoRivals) {
  Record other_data = rival(3), cold = rival(4);
  other_data.info.group = "another";
  cold.info.cache = "cold";
  Record other_shaders = rival(3);
  other_shaders.info.versus = true;
  EXPECT_NEAR(regret_among({other_data, cold, other_shaders, rival(16)}).value(), -25, 1e-9);
}

TEST(Regret, RowsOfOtherFormsAreNoRivalsButThoseOfOneAliasAre) {
  EXPECT_NEAR(
      regret_among({rival(10, "x=buffer/CONV2D(4C)"), rival(3, "x=buffer/4C1W")}, "x=buffer/CONV2D(4C1W)")
          .value(),
      20, 1e-9);
}

TEST(Regret, NeedsARivalWithATime) {
  Record wrong = rival(3), chosen = rival(4), of_no_group = rival(5);
  wrong.status = Status::Fail;
  chosen.perf->impl_auto = "fused";
  of_no_group.info.group = "";
  std::vector<Record> records{chosen, wrong, of_no_group, chosen};
  note_regrets(records);
  for (const Record& record : records) EXPECT_EQ(record.perf->regret_pct, std::nullopt);
}

TEST(Regret, ThatAnOlderJournalHoldsStays) {
  std::vector<Record> records{rival(12), rival(10)};
  records[0].perf->impl_auto = "fused";
  records[0].perf->regret_pct = 7;
  note_regrets(records);
  EXPECT_EQ(records[0].perf->regret_pct, 7);
}

Record of_impl(const std::string& impl, double time_us) {
  return test::timed("a", impl, time_us);
}

TEST(RatioToTheSlowest, IsOfTheImplsThatACaseNames) {
  Record chosen = of_impl("auto", 11);
  chosen.perf->impl_auto = "fused";
  Record tuned = of_impl("plain", 90);  // the slowest impl is compared by its better point
  tuned.info.tune = "local_size=64";
  std::vector<Record> records{of_impl("fused", 10), of_impl("plain", 40), tuned, of_impl("tiled", 20),
                              chosen};
  note_ratios(records);
  const std::vector<double> expected{0.25, 1, 2.25, 0.5, 0.275};
  for (std::size_t i = 0; i < records.size(); ++i) {
    EXPECT_NEAR(records[i].perf->ratio.value(), expected[i], 1e-9) << i;
    EXPECT_EQ(records[i].perf->ratio_to, "plain") << i;
  }
}

TEST(RatioToTheSlowest, NeedsTwoNamedImplsOfOneCaseThatPassed) {
  Record chosen = of_impl("auto", 5);
  chosen.perf->impl_auto = "fused";
  Record cold = of_impl("plain", 6), other = of_impl("plain", 7), wrong = of_impl("plain", 8);
  cold.info.cache = "cold";
  other.info.group = "another";
  wrong.status = Status::Fail;
  Record versus = of_impl("plain", 9);
  versus.info.versus = true;
  std::vector<Record> records{of_impl("fused", 10), chosen, cold, other, wrong, versus};
  note_ratios(records);
  for (const Record& record : records) {
    EXPECT_FALSE(record.perf->ratio) << record.info.impl;
    EXPECT_EQ(record.perf->ratio_to, "");
  }
}

Record baseline_row(double time_us = 10) {
  return test::timed("a", "fused", time_us);
}

Record compared_row(double time_us = 20) {
  Record record = test::timed("a", "plain", time_us);
  record.info.baseline = baseline_row().info.id;
  return record;
}

std::string note_of(const Record& row, const Record* baseline, const std::optional<Ratio>& ratio = {}) {
  const Comparison made = comparison_of(row, baseline, ratio);
  EXPECT_EQ(made.ratio, 0);
  EXPECT_EQ(made.baseline, row.info.baseline);
  return made.note;
}

TEST(ComparisonOf, SaysWhyThereIsNone) {
  const Record baseline = baseline_row();
  Record failed = compared_row();
  failed.status = Status::Fail;
  failed.perf.reset();
  EXPECT_EQ(note_of(failed, &baseline), "this row is FAIL");
  Record suspect = baseline;
  suspect.status = Status::Suspect;
  EXPECT_EQ(note_of(compared_row(), &suspect, Ratio{2, {2, 2}, 1}),
            "its baseline " + baseline.info.id + " is SUSPECT");
  EXPECT_EQ(note_of(compared_row(), nullptr), "its baseline " + baseline.info.id + " is MISSING");
  EXPECT_EQ(note_of(compared_row(), &baseline),
            "its baseline " + baseline.info.id + " was timed in none of its rounds");
  Record alone = compared_row();
  alone.info.baseline = "";
  alone.info.baseline_note = "there is none";
  EXPECT_EQ(note_of(alone, &baseline, Ratio{2, {2, 2}, 1}), "there is none");
}

TEST(ReportBuilder, ComparesRowsThatThePlanHoldsAgainstEachOther) {
  ReportBuilder builder;
  Record cold = baseline_row(1);
  cold.info.cache = "cold";
  test::tell(builder, {cold, compared_row(), baseline_row()});
  const Comparison made = builder.report().records.at(1).comparison.value();
  EXPECT_EQ(made.baseline, baseline_row().info.id);
  EXPECT_EQ(made.ratio, 2);
  EXPECT_EQ(made.blocks, 2);
  EXPECT_EQ(made.note, "");
  EXPECT_EQ(builder.record(1).comparison.value().ratio, 2);
  EXPECT_FALSE(builder.report().records.at(2).comparison);
  EXPECT_EQ(std::move(builder).take_report().records.at(1).comparison.value().ratio, 2);
}

TEST(ReportBuilder, ComparesARowWithWhatHasEndedSoFar) {
  ReportBuilder builder;
  Record chose = test::timed("a", "auto", 12);
  chose.perf->impl_auto = "fused";
  const std::vector<Record> records{compared_row(), baseline_row(), chose};
  builder.plan(test::infos_of(records));
  EXPECT_FALSE(builder.record(0).comparison) << "it has not ended";
  test::tell_row(builder, 0, records[0]);
  EXPECT_THAT(builder.record(0).comparison.value().note, testing::EndsWith("fused is MISSING"));
  test::tell_row(builder, 2, chose);
  EXPECT_NEAR(builder.record(2).perf->regret_pct.value(), -40, 1e-9) << "over 20 us";
  test::tell_row(builder, 1, records[1]);
  EXPECT_EQ(builder.record(0).comparison.value().ratio, 2);
  EXPECT_NEAR(builder.record(2).perf->regret_pct.value(), 20, 1e-9);
  EXPECT_NEAR(builder.report().records[2].perf->regret_pct.value(), 20, 1e-9);
}

TEST(ReportBuilder, ComparesNoRowThatNeverBegan) {
  ReportBuilder builder;
  builder.plan(test::infos_of({compared_row(), baseline_row()}));
  builder.end(0, {.status = Status::Missing, .reason = "not run"});
  EXPECT_FALSE(builder.report().records[0].comparison);
}

}  // namespace
}  // namespace assay
