#include "references/convolution/conv2d_q8ta_q8csw.h"

#include "references/convolution/convolution_test_support.h"
#include "references/linear/linear_test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay::references {
namespace {

using namespace test;

using testing::ElementsAre;
using testing::IsNan;

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

}  // namespace
}  // namespace assay::references
