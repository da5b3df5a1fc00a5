#include "references/convolution/conv2d.h"

#include "harness/base/error.h"
#include "references/convolution/convolution_test_support.h"
#include "references/linear/linear_test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

namespace assay::references {
namespace {

using namespace test;
using testing::Each;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::IsNan;

/// The values 1, 2, 3 and so on.
std::vector<std::int16_t> counted(std::size_t count) {
  std::vector<std::int16_t> values(count);
  std::iota(values.begin(), values.end(), std::int16_t{1});
  return values;
}

std::vector<int> row_of(const Convolution& conv, std::int64_t group, std::int64_t pixel, std::int64_t first,
                        std::int64_t last) {
  const auto x = channels_last(conv, counted(static_cast<std::size_t>(numel(conv.x_shape()))));
  std::vector<std::int16_t> values(static_cast<std::size_t>(last - first), -1);
  Patches(conv).read(x, group, pixel, first, last, values.data());
  return {values.begin(), values.end()};
}

TEST(ConvolutionRows, ChannelsOfAPixelLieBesideEachOther) {
  const Convolution conv = checked_convolution(convolution_case({.n = 2, .c = 3, .h = 1, .w = 2}));
  EXPECT_THAT(channels_last(conv, counted(12)), ElementsAre(1, 3, 5, 2, 4, 6, 7, 9, 11, 8, 10, 12));
  EXPECT_THAT(channels_last(conv, halves({2, 3, 1, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0.5F})),
              ElementsAre(1, 3, 5, 2, 4, 6, 7, 9, 11, 8, 10, 0.5F));
}

TEST(ConvolutionRows, ManyPixelsAreMovedToo) {
  const Convolution conv = checked_convolution(convolution_case({.n = 2, .c = 3, .h = 67, .w = 45}));
  constexpr std::size_t pixels = std::size_t{67} * 45;
  const std::vector<std::int16_t> x = counted(6 * pixels), moved = channels_last(conv, x);
  for (std::size_t i = 0; i < moved.size(); ++i) {
    const std::size_t n = i / (3 * pixels), pixel = i / 3 % pixels, c = i % 3;
    ASSERT_EQ(moved[i], x[(n * 3 + c) * pixels + pixel]) << i;
  }
}

TEST(ConvolutionRows, WeightsAreInTheOrderOfTapsThenChannels) {
  std::vector<int> values(24);
  std::iota(values.begin(), values.end(), 0);
  const ConvolutionSizes sizes{.c = 4, .h = 1, .w = 3, .oc = 4, .kernel = {1, 3}, .groups = 2};
  const IntegerRows rows =
      weight_rows(checked_convolution(convolution_case(sizes)), int8s({4, 2, 1, 3}, values));
  EXPECT_EQ(rows.rows, 4);
  EXPECT_EQ(rows.depth, 6);
  EXPECT_THAT(std::vector<int>(rows.row(0), rows.row(2)), ElementsAre(0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11));
  EXPECT_THAT(std::vector<int>(rows.row(2), rows.row(3)), ElementsAre(12, 15, 13, 16, 14, 17));
}

TEST(ConvolutionRows, WeightsOfTransposedOnesAreThoseOfTheGroup) {
  std::vector<int> values(24);
  std::iota(values.begin(), values.end(), 0);
  const ConvolutionSizes sizes{
      .c = 4, .h = 1, .w = 3, .oc = 4, .kernel = {1, 3}, .groups = 2, .output_padding = Pair{0, 0}};
  const IntegerRows rows =
      weight_rows(checked_convolution(convolution_case(sizes)), int8s({4, 2, 1, 3}, values));
  EXPECT_THAT(std::vector<int>(rows.row(0), rows.row(2)), ElementsAre(0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11));
  EXPECT_THAT(std::vector<int>(rows.row(2), rows.row(3)), ElementsAre(12, 18, 13, 19, 14, 20));
}

TEST(ConvolutionRows, PatchesHoldZerosWhereTapsLieInThePadding) {
  // In the first image of x, channel 0 is 1 2 3 and channel 1 is 4 5 6; the second image has 6 more.
  const Convolution conv = checked_convolution(convolution_case(
      {.n = 2, .c = 2, .h = 1, .w = 3, .kernel = {1, 3}, .stride = {1, 2}, .padding = {0, 1}}));
  EXPECT_THAT(row_of(conv, 0, 0, 0, 6), ElementsAre(0, 0, 1, 4, 2, 5));
  EXPECT_THAT(row_of(conv, 0, 1, 0, 6), ElementsAre(2, 5, 3, 6, 0, 0));
  EXPECT_THAT(row_of(conv, 0, 3, 0, 6), ElementsAre(8, 11, 9, 12, 0, 0));
}

TEST(ConvolutionRows, APartOfAPatchMayBeginAndEndInsideOfATap) {
  const Convolution conv = checked_convolution(
      convolution_case({.c = 6, .h = 3, .w = 3, .oc = 2, .kernel = {3, 2}, .padding = {1, 0}, .groups = 2}));
  const std::vector<int> whole = row_of(conv, 1, 1, 0, 18);
  for (std::int64_t first = 0; first < 18; ++first) {
    for (std::int64_t last = first + 1; last <= 18; ++last) {
      const std::vector<int> part(whole.begin() + first, whole.begin() + last);
      ASSERT_THAT(row_of(conv, 1, 1, first, last), ElementsAreArray(part)) << first << " to " << last;
    }
  }
}

TEST(ConvolutionRows, PatchesOfTransposedOnesSkipWhatTheStrideLeavesOut) {
  const Convolution conv = checked_convolution(convolution_case(
      {.h = 1, .w = 3, .kernel = {1, 3}, .stride = {1, 2}, .padding = {0, 1}, .output_padding = Pair{0, 1}}));
  ASSERT_THAT(conv.y_shape(), ElementsAre(1, 1, 1, 6));
  EXPECT_THAT(row_of(conv, 0, 0, 0, 3), ElementsAre(0, 1, 0));
  EXPECT_THAT(row_of(conv, 0, 1, 0, 3), ElementsAre(2, 0, 1));
  EXPECT_THAT(row_of(conv, 0, 5, 0, 3), ElementsAre(0, 0, 3));
}

TEST(ConvolutionRows, ElementsOfYAreInTheOrderOfChannelsThenPixels) {
  const Patches patches(checked_convolution(convolution_case({.n = 2, .h = 2, .w = 5, .oc = 3})));
  EXPECT_EQ(patches.index_in_y(0, 2), 20);
  EXPECT_EQ(patches.index_in_y(9, 1), 19);
  EXPECT_EQ(patches.index_in_y(13, 1), 43);
}

Expected answer(const Params& params, const std::vector<HostTensor>& inputs) {
  std::vector<Expected> outputs = conv2d_q8csw(params, inputs);
  EXPECT_EQ(outputs.size(), 1U);
  return std::move(outputs.at(0));
}

std::vector<double> values(const Expected& expected) {
  const auto all = expected.values.as<double>();
  return {all.begin(), all.end()};
}

std::vector<double> reals(const HostTensor& tensor) {
  std::vector<double> all;
  for (std::int64_t i = 0; i < tensor.numel(); ++i) all.push_back(tensor.at(i));
  return all;
}

/// The expected outputs by the header's formula, from the sums of plain loops.
struct Plain {
  HostTensor y;
  std::vector<float> magnitude;
};

Plain plain_answer(const Params& params, const std::vector<HostTensor>& inputs) {
  const PlainSums sums = plain_sums(params, reals(inputs[0]), inputs[1]);
  Plain made{HostTensor(DType::F64, sums.shape), {}};
  for (std::int64_t i = 0; i < made.y.numel(); ++i) {
    const auto element = static_cast<std::size_t>(i);
    const std::int64_t channel = sums.channel_of(i);
    const double scale = inputs[2].at(channel), bias = params.boolean("bias") ? inputs[3].at(channel) : 0;
    const double value = sums.sums[element] * scale + bias;
    made.y.as<double>()[element] = params.choice("activation") == "relu" ? std::max(value, 0.0) : value;
    made.magnitude.push_back(static_cast<float>(sums.magnitudes[element] * scale + std::fabs(bias)));
  }
  return made;
}

void expect_plain(const Params& params, std::mt19937& random) {
  const bool is_half = params.choice("dtype") == "f16";
  const auto inputs = convolution_inputs(params, is_half ? DType::F16 : DType::F32, random);
  const Expected y = answer(params, inputs);
  const Plain plain = plain_answer(params, inputs);
  ASSERT_EQ(y.values.shape(), plain.y.shape()) << params.canonical();
  EXPECT_TRUE(near(y.values, plain.y, plain.magnitude, 1e-5)) << params.canonical();
  EXPECT_EQ(y.bound.empty(), !is_half);
  ASSERT_EQ(y.magnitude.size(), plain.magnitude.size());
  for (std::size_t i = 0; i < plain.magnitude.size(); ++i) {
    const float least = std::max(plain.magnitude[i], 0x1p-90F);
    ASSERT_GE(y.magnitude[i], least * (1 - 0x1p-22F)) << params.canonical() << " element " << i;
    ASSERT_LE(y.magnitude[i], least * (1 + 0x1p-14F)) << params.canonical() << " element " << i;
  }
}

TEST(Conv2dQ8csw, AgreesWithPlainLoops) {
  std::mt19937 random(41);
  for (const ConvolutionSizes& sizes : awkward_sizes()) {
    for (const std::string dtype : {"f32", "f16"}) {
      Params params = convolution_case(sizes);
      params.set("dtype", dtype);
      expect_plain(params, random);
      params.set("bias", true);
      params.set("activation", std::string("relu"));
      expect_plain(params, random);
    }
  }
}

TEST(Conv2dQ8csw, ScalesChannelsAndAddsTheBias) {
  Params params = convolution_case({.h = 1, .w = 3, .oc = 2, .kernel = {1, 2}, .padding = {0, 1}});
  params.set("bias", true);
  const std::vector<HostTensor> inputs{floats({1, 1, 1, 3}, {1, -2, 4}),
                                       int8s({2, 1, 1, 2}, {1, 2, -128, 127}), floats({2}, {0.5F, 0.25F}),
                                       floats({2}, {0.5F, -32})};
  EXPECT_THAT(values(answer(params, inputs)), ElementsAre(1.5, -1, 3.5, 2.5, -0.25, -127.5, 159, -160));
  params.set("activation", std::string("relu"));
  EXPECT_THAT(values(answer(params, inputs)), ElementsAre(1.5, 0, 3.5, 2.5, 0, 0, 159, 0));
}

TEST(Conv2dQ8csw, InfinitiesReachTheOutputsThatMeetThem) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  Params params = convolution_case({.h = 1, .w = 5, .kernel = {1, 2}, .padding = {0, 1}});
  params.set("activation", std::string("relu"));
  const Expected y = answer(params, {floats({1, 1, 1, 5}, {infinity, 1, 1, 1, std::nanf("")}),
                                     int8s({1, 1, 1, 2}, {-1, 1}), floats({1}, {1})});
  EXPECT_EQ(y.values.at(0), infinity);
  EXPECT_EQ(y.values.at(1), 0);
  EXPECT_EQ(y.values.at(2), 0);
  EXPECT_TRUE(std::isnan(y.values.at(4)));
  EXPECT_TRUE(std::isnan(y.values.at(5)));
  EXPECT_EQ(y.magnitude[0], 0);
  EXPECT_GE(y.magnitude[2], 2);
  EXPECT_EQ(y.magnitude[5], 0);
}

TEST(Conv2dQ8csw, GivesTheGoldenVectors) {
  const std::vector<Golden> vectors = golden_vectors("conv2d_q8csw");
  EXPECT_EQ(vectors.size(), 12U);
  for (const Golden& golden : vectors) {
    const Expected y = answer(convolution_case(golden), golden_inputs(golden, {"x", "w", "w_scale", "bias"}));
    EXPECT_TRUE(near(y.values, golden.tensor("y"), y.magnitude, 1e-6)) << golden.name;
  }
}

Expected conv_answer(const Params& params, const std::vector<HostTensor>& inputs) {
  std::vector<Expected> outputs = conv2d_q8ta_q8csw(params, inputs);
  EXPECT_EQ(outputs.size(), 1U);
  return std::move(outputs.at(0));
}

/// x quantized, minus its zero point.
std::vector<double> plain_integers(const QParams& qparams, const HostTensor& x) {
  const float inverse = 1.0F / qparams.scale;
  std::vector<double> made;
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    const float scaled = static_cast<float>(x.at(i)) * inverse;
    const float moved = std::nearbyint(scaled) + static_cast<float>(qparams.zero_point);
    made.push_back(static_cast<double>(std::clamp(moved, -128.0F, 127.0F)) - qparams.zero_point);
  }
  return made;
}

void expect_plain_convolution(const Params& params, std::mt19937& random) {
  const bool is_half = params.choice("dtype") == "f16";
  const auto inputs = convolution_inputs(params, is_half ? DType::F16 : DType::F32, random);
  const QParams x = params.qparams("x");
  const PlainSums sums = plain_sums(params, plain_integers(x, inputs[0]), inputs[1]);
  const Expected y = conv_answer(params, inputs);
  ASSERT_EQ(y.values.shape(), sums.shape);
  EXPECT_TRUE(y.magnitude.empty());
  EXPECT_EQ(y.bound.empty(), !is_half);
  for (std::int64_t i = 0; i < y.values.numel(); ++i) {
    const std::int64_t channel = sums.channel_of(i);
    const float scale = x.scale * static_cast<float>(inputs[2].at(channel));
    float f = static_cast<float>(sums.sums[static_cast<std::size_t>(i)]) * scale;
    if (params.boolean("bias")) f = f + static_cast<float>(inputs[3].at(channel));
    if (params.choice("activation") == "relu") f = std::max(f, 0.0F);
    ASSERT_EQ(y.values.at(i), is_half ? to_float(to_half(f)) : f) << params.canonical() << " element " << i;
  }
}

TEST(Conv2dQ8taQ8csw, AgreesWithPlainLoops) {
  std::mt19937 random(41);
  for (const ConvolutionSizes& sizes : awkward_sizes()) {
    for (const std::int32_t zero_point : {-128, 31, 127}) {
      Params params = convolution_case(sizes);
      params.set("x", QParams{0.021F, zero_point});
      params.set("dtype", std::string(zero_point == 31 ? "f16" : "f32"));
      expect_plain_convolution(params, random);
      params.set("bias", true);
      expect_plain_convolution(params, random);
      params.set("activation", std::string("relu"));
      expect_plain_convolution(params, random);
    }
  }
}

TEST(Conv2dQ8taQ8csw, RoundsTiesOfXToEvenAndPadsWithRealZeros) {
  Params params = convolution_case({.h = 1, .w = 4, .kernel = {1, 2}, .padding = {0, 1}});
  params.set("x", QParams{0.5F, 9});
  const Expected y = conv_answer(params, {floats({1, 1, 1, 4}, {0.25F, 0.75F, 1.25F, -0.75F}),
                                          int8s({1, 1, 1, 2}, {1, 10}), floats({1}, {1})});
  // x - 9: 0, 2, 2, -2.
  EXPECT_THAT(y.values.as<float>(), ElementsAre(0, 10, 11, -9, -1));
}

TEST(Conv2dQ8taQ8csw, IsFiniteForNaNAndInfinitiesOfX) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  Params params = convolution_case({.h = 1, .w = 3});
  params.set("x", QParams{0.5F, 27});
  const Expected y = conv_answer(params, {floats({1, 1, 1, 3}, {std::nanf(""), infinity, -infinity}),
                                          int8s({1, 1, 1, 1}, {2}), floats({1}, {1})});
  EXPECT_THAT(y.values.as<float>(), ElementsAre(0, 100, -155));
}

TEST(Conv2dQ8taQ8csw, ANaNOfTheBiasStaysInItsChannel) {
  Params params = convolution_case({.c = 2, .h = 1, .w = 1, .oc = 2, .groups = 2});
  params.set("bias", true);
  params.set("activation", std::string("relu"));
  const Expected y = conv_answer(params, {floats({1, 2, 1, 1}, {3, 4}), int8s({2, 1, 1, 1}, {1, 1}),
                                          floats({2}, {1, 1}), floats({2}, {std::nanf(""), 1})});
  EXPECT_THAT(y.values.as<float>(), ElementsAre(IsNan(), 5));
}

TEST(Conv2dQ8taQ8csw, GivesTheGoldenVectors) {
  const std::vector<Golden> vectors = golden_vectors("conv2d_q8ta_q8csw");
  EXPECT_EQ(vectors.size(), 12U);
  for (const Golden& golden : vectors) {
    const std::vector<HostTensor> inputs = golden_inputs(golden, {"x", "w", "w_scale", "bias"});
    const HostTensor want = golden.tensor("y");
    // Three roundings, and those of a bias and a sum that may cancel each other.
    std::vector<float> sizes;
    for (std::int64_t i = 0; i < want.numel(); ++i) {
      const double bias = inputs[3].at(i / (want.shape()[2] * want.shape()[3]) % want.shape()[1]);
      sizes.push_back(static_cast<float>(std::fabs(want.at(i)) + 2 * std::fabs(bias)));
    }
    EXPECT_TRUE(near(conv_answer(convolution_case(golden), inputs).values, want, sizes, 4)) << golden.name;
  }
}

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
