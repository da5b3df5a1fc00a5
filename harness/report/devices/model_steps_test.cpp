#include "harness/report/devices/model_steps.h"

#include "tests/support/records.h"

#include <gmock/gmock.h>

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A timed row of one of the model's layers, over 4 tokens: 2 us, 3 calls a step.
Record layer_row(const std::string& layer, const std::string& impl = "auto", double median_us = 2) {
  Record record = test::timed(layer, impl, median_us);
  record.info.op = "linear";
  record.info.model = "llama";
  record.info.layer = layer;
  record.info.calls = 3;
  record.info.tokens = 4;
  record.info.params = "K=8 M=4 N=16 batch= bias=false";
  return record;
}

Record with_params(Record record, const std::string& params) {
  record.info.params = params;
  return record;
}

Record with_tokens(Record record, std::int64_t tokens) {
  record.info.tokens = tokens;
  return record;
}

Record with_status(Record record, Status status) {
  record.status = status;
  record.reason = "because";
  return record;
}

std::vector<std::string> names_of(const ModelStep& step) {
  std::vector<std::string> names;
  for (const StepLayer& layer : step.layers) names.push_back(layer.name);
  return names;
}

TEST(ModelSteps, AddMediansTimesCalls) {
  Record up = layer_row("up", "auto", 10);
  up.info.calls = 5;
  const RunReport report = test::report_of({layer_row("down", "auto", 2), up});
  const ModelSteps steps = model_steps(report);
  ASSERT_EQ(steps.steps.size(), 1U);
  const ModelStep& step = steps.steps[0];
  EXPECT_EQ(step.model, "llama");
  EXPECT_EQ(step.tokens, 4);
  EXPECT_EQ(step.op, "linear");
  EXPECT_EQ(step.cache, "hot");
  EXPECT_THAT(names_of(step), ElementsAre("down", "up"));
  EXPECT_EQ(step.layers[0].step_us, 6);
  EXPECT_EQ(step.layers[1].step_us, 50);
  EXPECT_EQ(step.sum_us(), 56);
  EXPECT_TRUE(step.is_complete());
}

TEST(ModelSteps, LookAtTimedRowsOfModelsAlone) {
  Record judged = layer_row("down");
  judged.info.mode = "accu";
  Record of_no_model = layer_row("down");
  of_no_model.info.model.clear();
  const RunReport report = test::report_of({judged, of_no_model});
  EXPECT_THAT(model_steps(report).steps, IsEmpty());
  EXPECT_THAT(model_steps(report).unplaced, IsEmpty());
}

TEST(ModelSteps, CountNoChain) {
  Record chain = layer_row("");
  chain.chain.emplace();
  chain.perf->dispatches = {{.label = "a/x", .role = "op", .time_us = 1.5},
                            {.label = "b/x", .role = "op", .time_us = 0.75}};
  const RunReport report = test::report_of({layer_row("down"), chain});
  const ModelSteps steps = model_steps(report);
  ASSERT_EQ(steps.steps.size(), 1U);
  EXPECT_EQ(steps.steps[0].sum_us(), 6);
  EXPECT_THAT(steps.chains, ElementsAre(&report.records[1]));
  EXPECT_THAT(steps.unplaced, IsEmpty());
  EXPECT_EQ(dispatches_us(*steps.chains[0]), 2.25);
}

/// It has no program, and so no plan.
TEST(ModelSteps, TellARowOfAChainThatDidNotRunFromOneThatLacksItsLayer) {
  Record chain = layer_row(""), skipped = chain, other = chain;
  chain.info.op = skipped.info.op = "block";
  chain.chain.emplace();
  skipped.status = Status::Skipped;
  skipped.perf.reset();
  const RunReport report = test::report_of({skipped, chain, other});
  const ModelSteps steps = model_steps(report);
  EXPECT_THAT(steps.chains, ElementsAre(&report.records[0], &report.records[1]));
  EXPECT_THAT(steps.unplaced, ElementsAre(&report.records[2]));
}

TEST(ModelSteps, KeepApartWhatNoStepMixes) {
  Record other_model = layer_row("down");
  other_model.info.model = "gwen";
  Record other_op = layer_row("down");
  other_op.info.op = "conv";
  Record half = layer_row("down");
  half.info.dtype = "f16";
  Record cold = layer_row("down");
  cold.info.cache = "cold";
  Record edited = layer_row("down");
  edited.info.shaders = "edited";
  const RunReport report = test::report_of(
      {layer_row("down"), other_model, other_op, half, cold, edited, with_tokens(layer_row("down"), 1)});
  const ModelSteps steps = model_steps(report);
  EXPECT_EQ(steps.steps.size(), report.records.size());
  EXPECT_EQ(steps.steps[0].model, "gwen");
  EXPECT_EQ(steps.steps[1].tokens, 1) << "decode before prompts";
  for (const ModelStep& step : steps.steps) EXPECT_EQ(step.sum_us(), 6);
}

TEST(ModelSteps, TellSettingsFromParametersOfALayer) {
  const RunReport report =
      test::report_of({with_params(layer_row("up"), "K=8 N=16 batch= group=32 x=1 y"),
                       with_params(layer_row("up"), "K=8 N=16 batch= group=64 x=1 y"),
                       with_params(layer_row("down"), "K=16 N=8 batch= group=32 x=1 y"),
                       with_params(layer_row("down"), "K=16 N=8 batch= group=64 x=1 y")});
  const ModelSteps steps = model_steps(report);
  ASSERT_EQ(steps.steps.size(), 2U);
  EXPECT_EQ(steps.steps[0].settings, "group=32");
  EXPECT_EQ(steps.steps[1].settings, "group=64");
  EXPECT_EQ(steps.steps[1].params, "group=64 x=1 y") << "a blank may be in a value";
  EXPECT_EQ(steps.steps[1].layers[0].params, "K=8 N=16");
  EXPECT_EQ(steps.steps[1].layers[1].params, "K=16 N=8");
  EXPECT_TRUE(steps.steps[1].layers[0].others.empty());
}

TEST(ModelSteps, TellAParameterThatOnlySomeRowsHave) {
  const RunReport report = test::report_of(
      {with_params(layer_row("up"), "K=8 activation=relu"), with_params(layer_row("down"), "K=8")});
  const ModelSteps steps = model_steps(report);
  ASSERT_EQ(steps.steps.size(), 1U);
  EXPECT_EQ(steps.steps[0].params, "K=8");
  EXPECT_EQ(steps.steps[0].layers[0].params, "activation=relu");
  EXPECT_EQ(steps.steps[0].layers[1].params, "");
}

TEST(ModelSteps, TakeNoSettingFromTheNumberOfTokens) {
  const RunReport report = test::report_of(
      {with_params(layer_row("up"), "K=8 M=4"), with_tokens(with_params(layer_row("up"), "K=8 M=1"), 1)});
  const ModelSteps steps = model_steps(report);
  ASSERT_EQ(steps.steps.size(), 2U);
  EXPECT_EQ(steps.steps[0].settings, "");
  EXPECT_EQ(steps.steps[0].params, "K=8 M=1");
}

TEST(ModelSteps, LackWhatDidNotPass) {
  const RunReport report = test::report_of({layer_row("up"), with_status(layer_row("down"), Status::Suspect),
                                            with_status(layer_row("gate"), Status::Fail)});
  const ModelStep step = model_steps(report).steps.at(0);
  EXPECT_EQ(step.sum_us(), 6) << "a time that is there is not summed when its row did not pass";
  EXPECT_FALSE(step.is_complete());
  EXPECT_EQ(step.layers[1].row, &report.records[1]);
  EXPECT_FALSE(step.layers[1].step_us);
}

TEST(ModelSteps, LackLayersThatOnlyOtherStepsHave) {
  Record judged = layer_row("head");
  judged.info.mode = "accu";
  Record other_model = layer_row("elsewhere");
  other_model.info.model = "zebra";
  const RunReport report =
      test::report_of({with_tokens(layer_row("down"), 1), layer_row("up"), judged, other_model});
  const ModelStep step = model_steps(report).steps.at(1);
  EXPECT_EQ(step.tokens, 4);
  EXPECT_THAT(names_of(step), ElementsAre("down", "up", "head"));
  EXPECT_EQ(step.layers[0].row, nullptr);
  EXPECT_EQ(step.layers[0].elsewhere, &report.records[0]);
  EXPECT_EQ(step.layers[2].elsewhere, &report.records[2])
      << "a judged row shows that the model has the layer";
  EXPECT_FALSE(step.is_complete());
  EXPECT_EQ(step.sum_us(), 6);
}

TEST(ModelSteps, TakeImplAutoThoughAnotherIsFaster) {
  const RunReport report = test::report_of({layer_row("up", "gemv", 1), layer_row("up", "auto", 2)});
  const StepLayer layer = model_steps(report).steps.at(0).layers.at(0);
  EXPECT_EQ(layer.row, &report.records[1]);
  EXPECT_THAT(layer.others, ElementsAre(&report.records[0]));
  EXPECT_EQ(layer.step_us, 6);
}

TEST(ModelSteps, TakeTheFastestThatPassedWhereAutoHasNoTime) {
  const RunReport report = test::report_of({layer_row("up", "slow", 9), layer_row("up", "fast", 4),
                                            with_status(layer_row("up", "wrong", 1), Status::Fail),
                                            with_status(layer_row("up", "auto", 2), Status::Timeout)});
  const StepLayer layer = model_steps(report).steps.at(0).layers.at(0);
  EXPECT_EQ(layer.row, &report.records[1]);
  EXPECT_EQ(layer.others.size(), 3U);
  EXPECT_EQ(layer.step_us, 12);
}

TEST(ModelSteps, ShowTheRowOfImplAutoWhereNonePassed) {
  const RunReport report = test::report_of({with_status(layer_row("up", "gemv"), Status::Fail),
                                            with_status(layer_row("up", "auto"), Status::Fail)});
  const StepLayer layer = model_steps(report).steps.at(0).layers.at(0);
  EXPECT_EQ(layer.row, &report.records[1]);
  EXPECT_FALSE(layer.step_us);
}

TEST(ModelSteps, DoNotGuessHowOftenALayerIsCalled) {
  Record without_calls = layer_row("down");
  without_calls.info.calls = 0;
  const RunReport report = test::report_of({layer_row("up"), without_calls});
  const ModelStep step = model_steps(report).steps.at(0);
  EXPECT_EQ(step.sum_us(), 6);
  EXPECT_FALSE(step.is_complete());
}

TEST(ModelSteps, LeaveOutRowsWithoutLayer) {
  const RunReport report = test::report_of({layer_row("up"), layer_row("")});
  const ModelSteps steps = model_steps(report);
  EXPECT_THAT(steps.unplaced, ElementsAre(&report.records[1]));
  ASSERT_EQ(steps.steps.size(), 1U);
  EXPECT_THAT(names_of(steps.steps[0]), ElementsAre("up"));
}

Record of_op(Record record, const std::string& op, double median_us = 2) {
  record.info.op = op;
  record.perf->time_us_p50 = median_us;
  return record;
}

TEST(ModelSteps, OfANetWithoutTokensAreStepsToo) {
  const RunReport report = test::report_of({with_tokens(layer_row("conv1"), 0)});
  const ModelSteps steps = model_steps(report);
  ASSERT_EQ(steps.steps.size(), 1U);
  EXPECT_EQ(steps.steps[0].tokens, 0);
  EXPECT_EQ(steps.steps[0].sum_us(), 6);
}

TEST(ModelSteps, AddOpsThatComputeOtherLayers) {
  const RunReport report =
      test::report_of({layer_row("first"), of_op(layer_row("depthwise"), "dw", 10),
                       of_op(with_params(layer_row("expand"), "C=3 bias=true"), "pw", 5), layer_row("last")});
  const ModelSteps steps = model_steps(report);
  ASSERT_EQ(steps.steps.size(), 1U);
  const ModelStep& step = steps.steps[0];
  EXPECT_EQ(step.op, "linear + dw + pw");
  EXPECT_EQ(step.dtype, "i8") << "equal ones are named once";
  EXPECT_EQ(step.params, "linear: K=8 M=4 N=16 bias=false; dw: K=8 M=4 N=16 bias=false; pw: C=3 bias=true");
  EXPECT_TRUE(step.is_complete());
  EXPECT_EQ(step.sum_us(), 3 * (2 + 10 + 5 + 2));
  const std::vector<OpShare> shares = step.by_op();
  ASSERT_EQ(shares.size(), 3U);
  EXPECT_EQ(shares[0].op, "dw") << "the largest share first";
  EXPECT_EQ(shares[0].us, 30);
  EXPECT_EQ(shares[2].op, "linear");
  EXPECT_EQ(shares[2].layers, 2U);
  EXPECT_EQ(shares[2].us, 12);
}

TEST(ModelSteps, OfAlternativesForTheMostLayersTakeTheBestOfTheOthers) {
  const RunReport report =
      test::report_of({layer_row("up"), layer_row("down"), of_op(layer_row("up"), "quick", 1),
                       of_op(layer_row("down"), "quick", 1), of_op(layer_row("norm"), "slow_norm", 9),
                       of_op(layer_row("norm"), "norm", 4),
                       with_status(of_op(layer_row("norm"), "wrong_norm", 1), Status::Fail)});
  const ModelSteps steps = model_steps(report);
  ASSERT_EQ(steps.steps.size(), 2U);
  EXPECT_EQ(steps.steps[0].op, "linear + norm");
  EXPECT_EQ(steps.steps[0].sum_us(), 3 * (2 + 2 + 4));
  EXPECT_EQ(steps.steps[1].op, "quick + norm");
  EXPECT_EQ(steps.steps[1].sum_us(), 3 * (1 + 1 + 4));
  for (const ModelStep& step : steps.steps) EXPECT_TRUE(step.is_complete());
}

Record cold(Record record) {
  record.info.cache = "cold";
  return record;
}

TEST(ModelSteps, TakeHotRowsOfLayersThatAreNotTimedCold) {
  Record gate = of_op(layer_row("gate"), "gate");
  gate.info.dtype = "f16";
  const RunReport report = test::report_of(
      {cold(layer_row("up")), cold(layer_row("down")), of_op(layer_row("norm"), "norm"), gate});
  const ModelSteps steps = model_steps(report);
  ASSERT_EQ(steps.steps.size(), 1U) << "the hot rows make no step of their own";
  EXPECT_EQ(steps.steps[0].cache, "cold");
  EXPECT_EQ(steps.steps[0].op, "linear + gate + norm");
  EXPECT_EQ(steps.steps[0].dtype, "i8 + f16") << "each once";
  EXPECT_EQ(steps.steps[0].sum_us(), 4 * 6);
  EXPECT_TRUE(steps.steps[0].is_complete());
}

TEST(ModelSteps, MixNoHotRowsOfLayersThatAreTimedColdToo) {
  const RunReport report = test::report_of(
      {cold(layer_row("up")), layer_row("up"), layer_row("down"), of_op(layer_row("norm"), "norm")});
  const ModelSteps steps = model_steps(report);
  ASSERT_EQ(steps.steps.size(), 2U);
  EXPECT_EQ(steps.steps[0].cache, "cold");
  EXPECT_EQ(steps.steps[0].sum_us(), 2 * 6) << "up and norm, and not the down of the hot step";
  EXPECT_EQ(steps.steps[1].cache, "hot");
  EXPECT_EQ(steps.steps[1].sum_us(), 3 * 6);
}

/// A row of an op with a cache: its rows are as many as its position asks for.
Record placed_row(const std::string& layer, const std::string& op, std::int64_t start, double median_us = 2) {
  Record record = of_op(layer_row(layer, "auto", median_us), op, median_us);
  record.info.params = "C=" + std::to_string(start + 4) + " H=8 start_pos=" + std::to_string(start);
  return record;
}

TEST(ModelSteps, MixNoContexts) {
  const RunReport report = test::report_of(
      {placed_row("attn", "sdpa", 124, 1), placed_row("attn", "sdpa", 4092, 9),
       placed_row("turn", "rotary", 124, 5), placed_row("turn", "rotary", 4092, 4), layer_row("up")});
  const ModelSteps steps = model_steps(report);
  ASSERT_EQ(steps.steps.size(), 2U);
  EXPECT_EQ(steps.steps[0].context, 128) << "the position of the first of four tokens is 124";
  EXPECT_EQ(steps.steps[0].sum_us(), 3 * (1 + 5 + 2));
  EXPECT_EQ(steps.steps[1].context, 4096);
  EXPECT_EQ(steps.steps[1].sum_us(), 3 * (9 + 4 + 2)) << "and not the faster attention of 128";
  for (const ModelStep& step : steps.steps) {
    EXPECT_TRUE(step.is_complete());
    EXPECT_EQ(step.settings, "") << "the rows of a cache are its context's";
  }
}

TEST(ModelSteps, LackLayersThatHaveNoRowOfTheirContext) {
  const RunReport report = test::report_of(
      {placed_row("attn", "sdpa", 124), placed_row("attn", "sdpa", 4092), placed_row("turn", "rotary", 124)});
  const ModelSteps steps = model_steps(report);
  ASSERT_EQ(steps.steps.size(), 2U);
  EXPECT_TRUE(steps.steps[0].is_complete());
  const ModelStep& later = steps.steps[1];
  EXPECT_FALSE(later.is_complete());
  EXPECT_EQ(later.layers[1].row, nullptr);
  EXPECT_EQ(why_no_row(later, later.layers[1]), "no timed row at context 4096");
}

TEST(ModelSteps, DoNotBlameTheContextForALayerWithoutPosition) {
  Record judged = layer_row("head");
  judged.info.mode = "accu";
  const RunReport report = test::report_of({placed_row("attn", "sdpa", 124), judged});
  const ModelStep step = model_steps(report).steps.at(0);
  EXPECT_EQ(why_no_row(step, step.layers[1]), "no timed row");
}

TEST(ModelSteps, TakeHotRowsOfTheirContextForColdSteps) {
  const RunReport report =
      test::report_of({cold(placed_row("attn", "sdpa", 124, 1)), cold(placed_row("attn", "sdpa", 4092, 9)),
                       placed_row("turn", "rotary", 124, 5), placed_row("turn", "rotary", 4092, 4)});
  const ModelSteps steps = model_steps(report);
  ASSERT_EQ(steps.steps.size(), 2U);
  EXPECT_EQ(steps.steps[0].cache, "cold");
  EXPECT_EQ(steps.steps[0].sum_us(), 3 * (1 + 5));
  EXPECT_EQ(steps.steps[1].sum_us(), 3 * (9 + 4));
}

TEST(ModelSteps, TellSettingsFromContexts) {
  Record roomy = placed_row("attn", "sdpa", 124);
  roomy.info.params = "C=999 H=8 start_pos=124";
  const RunReport report =
      test::report_of({placed_row("attn", "sdpa", 124), roomy, placed_row("attn", "sdpa", 4092)});
  const ModelSteps steps = model_steps(report);
  ASSERT_EQ(steps.steps.size(), 3U);
  EXPECT_EQ(steps.steps[0].settings, "C=128");
  EXPECT_EQ(steps.steps[1].settings, "C=999");
  EXPECT_EQ(steps.steps[2].context, 4096);
}

TEST(ModelSteps, HaveNoContextWhereAPositionIsNoNumber) {
  const RunReport report = test::report_of({with_params(layer_row("up"), "start_pos=1x2")});
  EXPECT_EQ(model_steps(report).steps.at(0).context, std::nullopt);
}

TEST(ModelSteps, KeepHotStepsOfOtherTokensAndShaders) {
  Record edited = of_op(layer_row("norm"), "norm");
  edited.info.shaders = "edited";
  const RunReport report =
      test::report_of({cold(layer_row("up")), with_tokens(of_op(layer_row("norm"), "norm"), 512), edited});
  EXPECT_EQ(model_steps(report).steps.size(), 3U);
}

TEST(ModelSteps, KeepAlternativesApartThatShareLayersThroughAThird) {
  const RunReport report =
      test::report_of({of_op(layer_row("a"), "one"), of_op(layer_row("b"), "two"),
                       of_op(layer_row("a"), "both", 1), of_op(layer_row("b"), "both", 1)});
  const ModelSteps steps = model_steps(report);
  ASSERT_EQ(steps.steps.size(), 3U)
      << "'one' and 'two' are no step together, as 'both' computes their layers";
  EXPECT_TRUE(steps.steps[0].is_complete());
  EXPECT_FALSE(steps.steps[1].is_complete());
}

TEST(ModelSteps, SayWhatTheSumWouldBeAtTheCeilings) {
  Record half = layer_row("half", "auto", 10);
  half.perf->pct_peak_bw = 50;
  Record unknown = layer_row("unknown", "auto", 4);
  unknown.perf->pct_peak_bw = 0;
  const RunReport report = test::report_of({half, unknown});
  const ModelStep step = model_steps(report).steps.at(0);
  EXPECT_EQ(step.sum_us(), 42);
  EXPECT_EQ(step.at_ceilings_us(), 15 + 12) << "a layer without a ceiling stays as it is";
}

TEST(ModelSteps, KnowNoSumAtCeilingsThatWereNotMeasured) {
  Record unknown = layer_row("unknown", "auto", 4);
  unknown.perf->pct_peak_bw = 0;
  const RunReport report = test::report_of({unknown});
  const ModelStep step = model_steps(report).steps.at(0);
  EXPECT_EQ(step.at_ceilings_us(), std::nullopt);
  EXPECT_EQ(step.by_op().at(0).gain_us, std::nullopt);
}

}  // namespace
}  // namespace assay
