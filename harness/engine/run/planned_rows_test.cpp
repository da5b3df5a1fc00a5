#include "harness/engine/run/planned_rows.h"

#include "harness/base/error.h"
#include "harness/chain/chain.h"
#include "harness/engine/run/row_plan.h"
#include "tests/support/small_op.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <numeric>
#include <vector>

namespace assay {
namespace {

using test::flip_op;
using test::make_case;
using test::shape_params;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

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
  test_case.tokens = 512;
  EXPECT_EQ(info().tokens, 512)
      << "the case knows better: of a prompt, a layer may compute the last token alone";
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

TEST(RowInfo, SaysACaseInTheWordsOfItsFile) {
  const Op op = flip_op();
  Case test_case = make_case(op, shape_params({1, 96, 16, 9}), "small");
  test_case.forms = {{Storage::Buffer, Layout::P4W4C}, {Storage::Texture3D, Layout::CP}};
  test_case.tune = {{"tile", 4}, {"local_size", 128}};
  test_case.tier = Tier::Smoke;
  test_case.mode = Mode::Both;
  test_case.seed = 42;
  const RowInfo info = row_info({.test_case = &test_case, .mode = Mode::Perf}, {});
  EXPECT_EQ(info.id, "flip/small/plain");
  EXPECT_EQ(info.op, "flip");
  EXPECT_EQ(info.name, "small");
  EXPECT_EQ(info.impl, "plain");
  EXPECT_EQ(info.shape, "1x96x16x9");
  EXPECT_EQ(info.params, test_case.params->canonical());
  EXPECT_EQ(info.forms, "x=buffer/4W4C y=texture3d/CP");
  EXPECT_EQ(info.tune, "local_size=128 tile=4");
  EXPECT_EQ(info.fill, "x=uniform");
  EXPECT_EQ(info.mode, "perf") << "the row's mode, not the case's";
  EXPECT_EQ(info.tier, "smoke");
  EXPECT_EQ(info.seed, 42U);
  EXPECT_EQ(info.where.file, "cases/flip.yaml");
  EXPECT_EQ(info.where.line, 7);
}

/// Else rows were other tasks than in reports that are older than the choice.
TEST(RowInfo, HasNoChoiceThatIsWhatTheOpDerives) {
  const Op older = flip_op();
  Op op = older;
  op.params.push_back(choice("activation", {"none", "relu"}).derived([](const Params&) {
    return Value(std::string("none"));
  }));
  const auto params_with = [&](const std::string& activation) {
    Params params = shape_params({4});
    params.set("activation", activation);
    const Case test_case = make_case(op, params);
    return row_info({.test_case = &test_case, .mode = Mode::Perf}, {}).params;
  };
  const Case before = make_case(older, shape_params({4}));
  EXPECT_EQ(params_with("none"), row_info({.test_case = &before, .mode = Mode::Perf}, {}).params);
  EXPECT_EQ(params_with("relu"), "activation=relu shape=4");
}

TEST(RowInfo, NamesTheValueOfAConstantAndTheFileOfAnNpy) {
  const Op op = flip_op();
  Case test_case = make_case(op, shape_params({4}));
  test_case.fills.edit()["x"] = {.kind = FillKind::Constant, .value = -3};
  EXPECT_EQ(row_info({.test_case = &test_case, .mode = Mode::Accu}, {}).fill, "x=constant:-3");
  test_case.fills.edit()["x"] = {.kind = FillKind::Npy, .file = {"data/x.npy"}};
  EXPECT_EQ(row_info({.test_case = &test_case, .mode = Mode::Accu}, {}).fill, "x=npy:data/x.npy");
}

/// A case of an op with an input, two constants of nodes, and an output.
Case chain_case(const Op& op) {
  Case test_case = make_case(op, shape_params({4}));
  std::vector<TensorSpec>& tensors = test_case.tensors.edit();
  for (const char* name : {"conv.w", "conv.bias"}) {
    TensorSpec constant = tensors.front();
    constant.name = name;
    constant.constant = true;
    tensors.insert(tensors.end() - 1, constant);
    test_case.fills.edit()[name] = {.kind = FillKind::Normal};
  }
  test_case.forms.assign(tensors.size(), test_case.forms.front());
  return test_case;
}

TEST(RowInfo, LeavesOutTheConstantsOfAChainsNodesUnlessTheyAreUnusual) {
  Op op = flip_op();
  Case plain = chain_case(op);
  EXPECT_EQ(row_info({.test_case = &plain}, {}).shapes, "x=4 conv.w=4 conv.bias=4 y=4") << "no chain";
  op.chain = std::make_shared<const chain::Chain>();
  Case test_case = chain_case(op);
  RowInfo info = row_info({.test_case = &test_case}, {});
  EXPECT_EQ(info.shapes, "x=4 y=4");
  EXPECT_EQ(info.forms, "x=buffer/WP y=buffer/WP");
  EXPECT_EQ(info.fill, "x=uniform constants=normal");
  test_case.forms[1] = {Storage::Buffer, Layout::HP};
  test_case.fills.edit()["conv.bias"] = {.kind = FillKind::Uniform};
  info = row_info({.test_case = &test_case}, {});
  EXPECT_EQ(info.forms, "x=buffer/WP conv.w=buffer/HP y=buffer/WP");
  EXPECT_EQ(info.fill, "x=uniform conv.w=normal conv.bias=uniform");
}

TEST(RowInfo, TellsWhatConv2dStandsFor) {
  const Op op = flip_op();
  Case test_case = make_case(op, shape_params({4}));
  test_case.forms[1] = {Storage::Buffer, Layout::P4C};
  test_case.conv2d = {.tensors = {1}, .awaits_device = true};
  EXPECT_EQ(row_info({.test_case = &test_case}, {}).forms, "x=buffer/WP y=buffer/CONV2D");
  test_case.conv2d.awaits_device = false;
  EXPECT_EQ(row_info({.test_case = &test_case}, {}).forms, "x=buffer/WP y=buffer/CONV2D(4C)");
}

TEST(RowProgramTest, NeedsToKnowWhatConv2dStandsFor) {
  const Op op = flip_op();
  Case test_case = make_case(op, shape_params({4}));
  test_case.conv2d = {.tensors = {1}, .awaits_device = true};
  EXPECT_THROW(row_program(test_case, {}), std::logic_error);
}

TEST(RowInfo, WithoutTuningThereIsNoTune) {
  const Op op = flip_op();
  const Case untuned = make_case(op, shape_params({4}));
  EXPECT_EQ(row_info({.test_case = &untuned}, {}).tune, "");
}

TEST(RowInfo, ExpectationsMatchTheIdsOfARowAndOfItsCase) {
  RowInfo info{.id = "op/a/cold/versus", .impl = "fused", .params = "n=2", .mode = "perf", .cache = "cold"};
  info.versus = true;
  const RowWords words = words_of(info);
  EXPECT_EQ(words.id, "op/a/cold/versus");
  EXPECT_EQ(words.case_id, "op/a");
  EXPECT_EQ(words.params, "n=2");
  EXPECT_EQ(words.mode, "perf");
  EXPECT_EQ(words.impl, "fused");
  EXPECT_EQ(words_of(RowInfo{.id = "op/cold", .cache = "hot"}).case_id, "op/cold")
      << "a name that a file gave";
}

/// Cases of an op; each data set has its own key.
struct ShardBench {
  Case& add(std::uint64_t data_key, Mode mode = Mode::Accu) {
    Case test_case = test::make_case(op, test::shape_params({4}), "p" + std::to_string(cases.size()));
    test_case.data_key = data_key;
    test_case.mode = mode;
    return cases.emplace_back(std::move(test_case));
  }
  std::vector<const Case*> selected() const {
    std::vector<const Case*> pointers;
    for (const Case& test_case : cases) pointers.push_back(&test_case);
    return pointers;
  }
  std::vector<PlannedGroup> groups() const { return plan_rows(selected(), {}); }

  Op op = test::flip_op();
  std::deque<Case> cases;
};

TEST(Shards, OfEqualGroupsAreDealtOutOneByOne) {
  const std::vector<double> costs(8, 2.5);
  EXPECT_THAT(balanced(costs, {1, 3}), ElementsAre(0, 3, 6));
  EXPECT_THAT(balanced(costs, {2, 3}), ElementsAre(1, 4, 7));
  EXPECT_THAT(balanced(costs, {3, 3}), ElementsAre(2, 5));
  EXPECT_THAT(balanced(costs, {9, 9}), IsEmpty());
  EXPECT_THAT(balanced({}, {1, 2}), IsEmpty());
}

TEST(Shards, HaveEveryGroupOnceAndAreAboutEquallyLong) {
  unsigned state = 7;
  for (int round = 0; round < 100; ++round) {
    std::vector<double> costs;
    for (int i = 0; i < 40; ++i) {
      state = state * 1664525U + 1013904223U;
      costs.push_back(static_cast<double>(1 + ((state >> 20) % 200)));
    }
    const double fair = std::accumulate(costs.begin(), costs.end(), 0.0) / 5;
    const double longest = *std::ranges::max_element(costs);
    std::vector<std::size_t> all;
    for (int index = 1; index <= 5; ++index) {
      double sum = 0;
      for (const std::size_t group : balanced(costs, {index, 5})) {
        sum += costs[group];
        all.push_back(group);
      }
      EXPECT_LE(sum, fair + longest);
    }
    std::ranges::sort(all);
    std::vector<std::size_t> expected(costs.size());
    std::iota(expected.begin(), expected.end(), std::size_t{0});
    EXPECT_EQ(all, expected);
  }
}

TEST(Shards, ATimedRowIsGuessedToCostManyOthers) {
  ShardBench bench;
  bench.add(1);
  bench.add(1);
  bench.add(2, Mode::Perf);
  const std::vector<double> costs = guessed_costs(bench.groups());
  ASSERT_EQ(costs.size(), 2U);
  EXPECT_EQ(costs[0], 2);
  EXPECT_GT(costs[1], 10);
}

TEST(Shards, KeepTheCasesOfAGroupTogether) {
  ShardBench bench;
  for (const std::uint64_t key : {1U, 2U, 1U, 3U, 2U}) bench.add(key);
  const std::vector<PlannedGroup> groups = bench.groups();
  const std::vector<std::size_t> taken{1, 2};
  const ShardInfo info = shard_info(groups, {2, 2}, taken);
  EXPECT_EQ(info.all_groups, 3U);
  EXPECT_EQ(info.all_rows, 5U);
  std::vector<std::string> names;
  for (const Case* test_case : cases_of_shard(bench.selected(), groups, info))
    names.push_back(test_case->name);
  EXPECT_THAT(names, ElementsAre("p1", "p3", "p4"));
}

TEST(Shards, OfAnotherPlanAreRefused) {
  ShardBench bench;
  bench.add(1);
  bench.add(2);
  const std::vector<std::size_t> taken{0};
  const ShardInfo info = shard_info(bench.groups(), {1, 2}, taken);
  const auto take = [&] { cases_of_shard(bench.selected(), bench.groups(), info); };
  take();
  bench.cases.back().id = "flip/other/plain";
  EXPECT_THAT(take, ThrowsMessage<Error>(HasSubstr("shard 1 of 2")));
  bench.cases.back().id = bench.selected().front()->id + "x";
  bench.add(3);
  EXPECT_THAT(take, ThrowsMessage<Error>(
                        HasSubstr("2 groups of rows were shared out, and the case files here give 3")));
}

}  // namespace

}  // namespace assay
