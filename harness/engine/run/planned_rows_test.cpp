#include "harness/engine/run/planned_rows.h"

#include "harness/base/error.h"
#include "tests/support/small_op.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using test::flip_op;
using test::make_case;
using test::shape_params;
using ::testing::HasSubstr;

/// An op with two impls, and a few cases of it in one group.
struct Bench {
  Op op = flip_op();
  std::vector<Case> cases;

  Bench() { op.impls.push_back({.name = "other"}); }

  Case& add(const std::string& name, const std::string& impl, Mode mode = Mode::Perf) {
    Case test_case = make_case(op, shape_params({4}), name);
    test_case.impl = op.find_impl(impl);
    test_case.id = op.name + "/" + name + "/" + impl;
    test_case.mode = mode;
    return cases.emplace_back(std::move(test_case));
  }

  PlannedGroup plan(bool versus = false) const {
    std::vector<const Case*> pointers;
    for (const Case& test_case : cases) pointers.push_back(&test_case);
    return plan_rows(pointers, {}, versus).at(0);
  }
};

TEST(PlanRows, EachRowComesOnceMoreWithTheOtherVersion) {
  Bench bench;
  bench.add("a", "plain", Mode::Both);
  const PlannedGroup rows = bench.plan(true);
  ASSERT_EQ(rows.size(), 4U);
  const RowNames names{.shaders = "mine", .versus = "theirs"};
  EXPECT_EQ(row_info(rows[0], names).id, "flip/a/plain");
  EXPECT_EQ(row_info(rows[0], names).mode, "accu");
  EXPECT_EQ(row_info(rows[0], names).shaders, "mine");
  EXPECT_EQ(row_info(rows[3], names).id, "flip/a/plain/versus");
  EXPECT_EQ(row_info(rows[3], names).mode, "perf");
  EXPECT_EQ(row_info(rows[3], names).shaders, "theirs");
  EXPECT_EQ(bench.plan(false).size(), 2U);
  EXPECT_EQ(row_info(rows[0], {}).shaders, std::nullopt) << "the embedded ones have no folder";
}

TEST(PlanRows, ARowTellsTheLayerThatItStandsForAndItsTokens) {
  Bench bench;
  Case& test_case = bench.add("a", "plain");
  const auto info = [&] { return row_info(bench.plan().at(0), {}); };
  EXPECT_EQ(info().tokens, 0) << "the op knows of none";
  test_case.model = "llama_3_2_1b";
  test_case.layer = "attn.kv";
  test_case.calls = 32;
  bench.op.tokens = [](const Params& params) { return params.ints("shape").at(0); };
  EXPECT_EQ(info().model, "llama_3_2_1b");
  EXPECT_EQ(info().layer, "attn.kv");
  EXPECT_EQ(info().calls, 32);
  EXPECT_EQ(info().tokens, 4);
  EXPECT_EQ(info().shapes, "x=4 y=4");
}

TEST(PlanRows, TwoRowsOfOneIdAreRefused) {
  Bench bench;
  bench.add("a", "plain");
  bench.add("b", "plain").id = "flip/a/plain/versus";
  try {
    bench.plan(true);
    FAIL() << "two rows have one id";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::Usage);
    EXPECT_THAT(error.what(), HasSubstr("'flip/a/plain/versus'"));
  }
  EXPECT_EQ(bench.plan(false).size(), 2U) << "without a comparison they are two rows";
}

TEST(Baselines, TheOtherVersionIsHeldAgainstTheOwn) {
  Bench bench;
  bench.add("a", "plain", Mode::Both);
  bench.add("a", "other");
  const PlannedGroup rows = bench.plan(true);
  const std::vector<Baseline> baselines = choose_baselines(rows, "");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(baselines[i].wanted, rows[i].versus && rows[i].mode == Mode::Perf) << i;
    if (!baselines[i].wanted) continue;
    ASSERT_TRUE(baselines[i].row) << i;
    const PlannedRow& own = rows[*baselines[i].row];
    EXPECT_FALSE(own.versus);
    EXPECT_EQ(own.test_case, rows[i].test_case);
    EXPECT_EQ(own.mode, Mode::Perf);
  }
}

TEST(Baselines, EveryOtherImplIsHeldAgainstTheNamedOneInItsForms) {
  Bench bench;
  const Form other_form{Storage::Buffer, Layout::CP};
  bench.add("a", "other");
  bench.add("b", "other").forms[0] = other_form;
  bench.add("a", "plain");
  bench.add("b", "plain").forms[0] = other_form;
  const std::vector<Baseline> baselines = choose_baselines(bench.plan(), "plain");
  EXPECT_EQ(baselines[0].row, 2U);
  EXPECT_EQ(baselines[1].row, 3U);
  EXPECT_FALSE(baselines[2].wanted) << "the baseline is compared with nothing";
}

TEST(Baselines, TheOtherVersionMayBeHeldAgainstAnImplOfTheOwn) {
  Bench bench;
  bench.add("a", "plain");
  bench.add("a", "other");
  const PlannedGroup rows = bench.plan(true);  // plain, plain/versus, other, other/versus
  const std::vector<Baseline> baselines = choose_baselines(rows, "plain");
  ASSERT_EQ(baselines.size(), 4U);
  EXPECT_FALSE(baselines[0].wanted);
  EXPECT_EQ(baselines[1].row, 0U) << "its own";
  EXPECT_EQ(baselines[2].row, 0U);
  EXPECT_EQ(baselines[3].row, 0U) << "not that of the other version";
}

TEST(VersusRowsAlone, LeaveOutTheOwnRowsThatNothingIsHeldAgainst) {
  Bench bench;
  bench.add("a", "plain", Mode::Both);
  bench.add("a", "other");
  const std::vector<PlannedGroup> groups{bench.plan(true)};
  const auto ids = [&](const std::string& impl) {
    std::vector<std::string> all;
    const std::vector<PlannedGroup> kept = versus_rows_alone(groups, impl);
    for (const PlannedRow& row : kept.at(0))
      all.push_back(row_id(row) + " " + std::string(name_of(row.mode)));
    return all;
  };
  EXPECT_THAT(ids(""), testing::ElementsAre("flip/a/plain/versus accu", "flip/a/plain perf",
                                            "flip/a/plain/versus perf", "flip/a/other perf",
                                            "flip/a/other/versus perf"));
  EXPECT_THAT(ids("plain"), testing::ElementsAre("flip/a/plain/versus accu", "flip/a/plain perf",
                                                 "flip/a/plain/versus perf", "flip/a/other/versus perf"));
}

TEST(VersusRowsAlone, LeaveOutGroupsWithoutAny) {
  Bench bench;
  bench.add("a", "plain");
  EXPECT_TRUE(versus_rows_alone(std::vector<PlannedGroup>{bench.plan()}, "").empty());
}

TEST(PlanOf, NamesTheBaselineOfEachRowOrWhyItHasNone) {
  Bench bench;
  bench.add("a", "other");
  bench.add("b", "other").forms[0] = {Storage::Buffer, Layout::CP};
  bench.add("a", "plain");
  const std::vector<PlannedGroup> groups{bench.plan()};
  const std::vector<RowInfo> plan = plan_of(groups, {}, "plain");
  ASSERT_EQ(plan.size(), 3U);
  EXPECT_EQ(plan[0].baseline, "flip/a/plain");
  EXPECT_EQ(plan[0].baseline_note, "");
  EXPECT_EQ(plan[1].baseline, "");
  EXPECT_EQ(plan[1].baseline_note, "no row of impl 'plain' in the same forms is timed in this group");
  EXPECT_EQ(plan[2].baseline + plan[2].baseline_note, "") << "it is the baseline";
  for (const RowInfo& info : plan_of(groups, {}, "")) EXPECT_EQ(info.baseline + info.baseline_note, "");
}

TEST(PlanOf, HoldsTheOtherVersionAgainstTheOwnOfTheSameCache) {
  Bench bench;
  bench.add("a", "plain").caches = Caches::Both;
  const std::vector<PlannedGroup> groups{bench.plan(true)};
  const std::vector<RowInfo> plan = plan_of(groups, {}, "");
  ASSERT_EQ(plan.size(), 4U);
  for (const RowInfo& info : plan) {
    const std::string own = info.cache == "cold" ? "flip/a/plain/cold" : "flip/a/plain";
    EXPECT_EQ(info.baseline, info.versus ? own : "") << info.id;
  }
}

TEST(Baselines, FormsThatAreWrittenConv2dAreTheSameWhateverTheyStandFor) {
  Bench bench;
  Case& other = bench.add("a", "other");
  other.forms[0] = {Storage::Buffer, Layout::P4C};
  other.conv2d.tensors = {0};
  bench.add("b", "plain").forms[0] = {Storage::Buffer, Layout::P4C};
  Case& plain = bench.add("a", "plain");
  plain.forms[0] = {Storage::Buffer, Layout::P4C1W};
  plain.conv2d.tensors = {0};
  EXPECT_EQ(choose_baselines(bench.plan(), "plain")[0].row, 2U);
}

TEST(Baselines, OfSeveralTheOneOfTheSameTuningIsTaken) {
  Bench bench;
  bench.add("a", "plain").tune = {{"local_size", 64}};
  bench.add("b", "plain").tune = {{"local_size", 128}};
  bench.add("c", "other").tune = {{"local_size", 128}};
  bench.add("a", "other").tune = {{"local_size", 256}};
  const std::vector<Baseline> baselines = choose_baselines(bench.plan(), "plain");
  EXPECT_EQ(baselines[2].row, 1U);
  EXPECT_EQ(baselines[3].row, 0U) << "no tuning fits, the name does";
}

TEST(Baselines, AGroupWithoutTheImplHasNone) {
  Bench bench;
  bench.add("a", "plain");
  bench.add("a", "other", Mode::Accu);
  const std::vector<Baseline> baselines = choose_baselines(bench.plan(), "other");
  EXPECT_FALSE(baselines[0].wanted) << "what is not timed is not compared";
  EXPECT_TRUE(baselines[1].wanted);
  EXPECT_FALSE(baselines[1].row) << "the other impl's row is not timed";
}

}  // namespace
}  // namespace assay
