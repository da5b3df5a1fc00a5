#include "references/convolution/q8ta_conv2d.h"

#include "harness/base/error.h"
#include "references/convolution/convolution_test_support.h"
#include "references/linear/int8_epilogue_test_support.h"
#include "references/linear/linear_test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <optional>

namespace assay::references {
namespace {

using namespace test;

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

HostTensor integer_answer(const Params& params, const std::vector<HostTensor>& inputs) {
  std::vector<Expected> outputs = q8ta_conv2d(params, inputs);
  EXPECT_EQ(outputs.size(), 1U);
  EXPECT_TRUE(outputs[0].magnitude.empty());
  EXPECT_TRUE(outputs[0].bound.empty());
  return std::move(outputs.at(0).values);
}

void expect_plain_integers(const Params& params, std::mt19937& random) {
  const auto inputs = convolution_inputs(params, DType::I8, random);
  std::vector<double> x;
  for (const std::int8_t q : inputs[0].as<std::int8_t>()) x.push_back(q - params.qparams("x").zero_point);
  const PlainSums sums = plain_sums(params, x, inputs[1]);
  const HostTensor y = integer_answer(params, inputs);
  ASSERT_EQ(y.dtype(), DType::I8);
  ASSERT_EQ(y.shape(), sums.shape) << params.canonical();
  for (std::int64_t i = 0; i < y.numel(); ++i) {
    const auto channel = static_cast<std::size_t>(sums.channel_of(i));
    std::optional<float> bias;
    if (params.boolean("bias")) bias = inputs[3].as<float>()[channel];
    const auto sum = static_cast<std::int64_t>(sums.sums[static_cast<std::size_t>(i)]);
    ASSERT_EQ(y.at(i), plain_int8(params, sum, inputs[2].as<float>()[channel], bias))
        << params.canonical() << " element " << i;
  }
}

void expect_plain_integers(const std::vector<ConvolutionSizes>& all) {
  std::mt19937 random(41);
  for (const ConvolutionSizes& sizes : all) {
    for (const std::string epilogue : {"float32", "fixed_point"}) {
      for (const std::int32_t zero_point : {-128, -3, 127}) {
        Params params = convolution_case(sizes);
        params.set("epilogue", epilogue);
        params.set("x", QParams{0.02F, zero_point});
        params.set("y", QParams{1.1F, 5});
        expect_plain_integers(params, random);
        params.set("bias", true);
        expect_plain_integers(params, random);
        params.set("activation", std::string("relu"));
        expect_plain_integers(params, random);
      }
    }
  }
}

TEST(Q8taConv2d, AgreesWithPlainLoops) {
  expect_plain_integers(awkward_sizes());
}

TEST(Q8taConv2d, AgreesWithPlainLoopsWhereItIsTransposed) {
  expect_plain_integers(awkward_transposed_sizes());
}

TEST(Q8taConv2d, SumsMorePixelsThanAreSpreadAtOnce) {
  std::mt19937 random(41);
  Params params =
      convolution_case({.n = 3, .c = 100, .h = 56, .w = 56, .oc = 2, .kernel = {3, 3}, .padding = {1, 1}});
  params.set("y", QParams{200, 0});
  expect_plain_integers(params, random);
}

/// A convolution of x times 1 for every x, in pixels of one channel.
HostTensor scaled(const Params& params, const std::vector<int>& x) {
  return integer_answer(
      params, {int8s({1, 1, 1, params.integer("W")}, x), int8s({1, 1, 1, 1}, {1}), floats({1}, {0.5F})});
}

Params pixels(std::int64_t count, const QParams& x, const QParams& y) {
  Params params = convolution_case({.h = 1, .w = count});
  params.set("x", x);
  params.set("y", y);
  return params;
}

TEST(Q8taConv2d, RoundsTiesToEvenByFloatsAndUpByIntegers) {
  Params params = pixels(5, {1, 0}, {1, 10});
  EXPECT_THAT(scaled(params, {1, 3, 5, -1, -3}).as<std::int8_t>(), ElementsAre(10, 12, 12, 10, 8));
  params.set("epilogue", std::string("fixed_point"));
  EXPECT_THAT(scaled(params, {1, 3, 5, -1, -3}).as<std::int8_t>(), ElementsAre(11, 12, 13, 10, 9));
}

TEST(Q8taConv2d, SaturatesAndRectifies) {
  for (const std::string epilogue : {"float32", "fixed_point"}) {
    Params params = pixels(3, {1, 27}, {0.25F, -100});
    params.set("epilogue", epilogue);
    EXPECT_THAT(scaled(params, {-128, 27, 127}).as<std::int8_t>(), ElementsAre(-128, -100, 100));
    params.set("activation", std::string("relu"));
    params.set("y", QParams{0.125F, -100});
    EXPECT_THAT(scaled(params, {-128, 27, 127}).as<std::int8_t>(), ElementsAre(-100, -100, 127));
  }
}

TEST(Q8taConv2d, ANaNOfTheBiasGivesTheZeroPointOfItsChannel) {
  Params params = convolution_case({.c = 2, .h = 1, .w = 1, .oc = 2, .groups = 2});
  params.set("bias", true);
  params.set("y", QParams{1, 10});
  for (const std::string activation : {"none", "relu"}) {
    params.set("activation", activation);
    const HostTensor y = integer_answer(params, {int8s({1, 2, 1, 1}, {9, 9}), int8s({2, 1, 1, 1}, {1, 1}),
                                                 floats({2}, {1, 1}), floats({2}, {std::nanf(""), 2})});
    EXPECT_THAT(y.as<std::int8_t>(), ElementsAre(10, 21));
  }
}

TEST(Q8taConv2d, PaddingIsTheZeroPoint) {
  Params params = convolution_case({.c = 3, .h = 4, .w = 4, .kernel = {5, 5}, .padding = {4, 4}});
  for (const std::int32_t zero_point : {-128, 17, 127}) {
    params.set("x", QParams{1, zero_point});
    params.set("y", QParams{1, -7});
    const HostTensor y =
        integer_answer(params, {int8s({1, 3, 4, 4}, std::vector<int>(48, zero_point)),
                                int8s({1, 3, 5, 5}, std::vector<int>(75, 127)), floats({1}, {1})});
    EXPECT_THAT(y.as<std::int8_t>(), Each(-7)) << zero_point;
  }
}

/// The message about the second channel of the third of three groups.
std::string refusal_of_channel_5(float w_scale, float bias) {
  Params params = convolution_case({.c = 3, .h = 1, .w = 1, .oc = 6, .groups = 3});
  params.set("bias", true);
  params.set("epilogue", std::string("fixed_point"));
  std::vector<float> scales(6, 1), biases(6, 0);
  scales[5] = w_scale;
  biases[5] = bias;
  try {
    integer_answer(params, {int8s({1, 3, 1, 1}, {1, 1, 1}), int8s({6, 1, 1, 1}, {1, 1, 1, 1, 1, 1}),
                            floats({6}, scales), floats({6}, biases)});
  } catch (const ParameterError& error) {
    return error.parameter() + ": " + error.what();
  }
  return "accepted";
}

TEST(Q8taConv2d, NamesTheChannelThatTheFixedPointDoesNotHold) {
  EXPECT_EQ(refusal_of_channel_5(1, 1), "accepted");
  EXPECT_THAT(refusal_of_channel_5(0x1p-40F, 0), HasSubstr("epilogue: fixed_point shifts by 1 to 62 bits"));
  EXPECT_THAT(refusal_of_channel_5(0x1p-40F, 0), HasSubstr("w_scale[5]"));
  EXPECT_THAT(refusal_of_channel_5(1, 0x1p31F), HasSubstr("output channel 5"));
}

void expect_golden(const std::string& op, std::size_t count, const std::vector<std::string>& names) {
  const std::vector<Golden> vectors = golden_vectors(op);
  EXPECT_EQ(vectors.size(), count);
  std::int64_t flips = 0;
  for (const Golden& golden : vectors) {
    const HostTensor pre = golden.tensor("pre");
    const HostTensor y = integer_answer(convolution_case(golden), golden_inputs(golden, names));
    const GoldenMatch match = compare(y, golden.tensor("y"), &pre);
    EXPECT_EQ(match.mismatches, 0) << golden.name;
    flips += match.flips;
  }
  EXPECT_EQ(flips, 0);
}

TEST(Q8taConv2d, GivesTheGoldenVectors) {
  expect_golden("q8ta_conv2d", 24, {"x", "w", "w_scale", "bias"});
}

TEST(Q8taConv2d, GivesTheGoldenVectorsOfTransposedOnes) {
  expect_golden("q8ta_conv2d_transposed", 4, {"x", "w_torch_layout", "w_scale"});
}

}  // namespace
}  // namespace assay::references
