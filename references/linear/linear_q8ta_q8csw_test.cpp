#include "references/linear/linear_q8ta_q8csw.h"

#include "references/linear/linear.h"
#include "references/linear/linear_rows.h"
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

Expected linear_answer(const Params& params, const std::vector<HostTensor>& inputs) {
  std::vector<Expected> outputs = linear_q8ta_q8csw(params, inputs);
  EXPECT_EQ(outputs.size(), 1U);
  return std::move(outputs.at(0));
}

/// The steps one after the other, as the header states them; the zero point is subtracted from the sum.
float plain_element(const Params& params, const std::vector<HostTensor>& inputs, std::int64_t element) {
  const std::int64_t depth = params.integer("K"), columns = params.integer("N");
  const std::int64_t m = element / columns, n = element % columns;
  const QParams x = params.qparams("x");
  const float inverse = 1.0F / x.scale;
  std::int32_t acc = 0, w_sum = 0;
  for (std::int64_t k = 0; k < depth; ++k) {
    const float scaled = static_cast<float>(inputs[0].at(m * depth + k)) * inverse;
    const float moved = std::nearbyint(scaled) + static_cast<float>(x.zero_point);
    const auto w = static_cast<std::int32_t>(inputs[1].at(n * depth + k));
    acc += static_cast<std::int32_t>(std::clamp(moved, -128.0F, 127.0F)) * w;
    w_sum += w;
  }
  const float scale = x.scale * static_cast<float>(inputs[2].at(n));
  float y = static_cast<float>(acc - x.zero_point * w_sum) * scale;
  if (params.boolean("bias")) y = y + static_cast<float>(inputs[3].at(n));
  return params.choice("activation") == "relu" ? std::max(y, 0.0F) : y;
}

void expect_plain_linear(const Params& params, std::mt19937& random) {
  const Linear linear = linear_params(params, most_depth_with_zero_point);
  std::vector<HostTensor> inputs{random_tensor(linear.real, linear.x_shape(), random),
                                 random_tensor(DType::I8, {linear.n, linear.k}, random),
                                 random_scales({linear.n}, random)};
  if (linear.bias) inputs.push_back(random_tensor(DType::F32, {linear.n}, random));
  const Expected y = linear_answer(params, inputs);
  ASSERT_EQ(y.values.shape(), linear.y_shape());
  EXPECT_TRUE(y.magnitude.empty());
  EXPECT_EQ(y.bound.empty(), linear.real == DType::F32);
  for (std::int64_t i = 0; i < y.values.numel(); ++i) {
    const float plain = plain_element(params, inputs, i);
    const float want = linear.real == DType::F32 ? plain : to_float(to_half(plain));
    ASSERT_EQ(y.values.at(i), want) << params.canonical() << " element " << i;
  }
}

TEST(LinearQ8taQ8csw, AgreesWithTheStepsAsTheyAreStated) {
  std::mt19937 random(41);
  for (const std::int32_t zero_point : {-128, -3, 127}) {
    for (const std::string dtype : {"f32", "f16"}) {
      Params params = linear_case(7, 68, 13);
      params.set("dtype", dtype);
      params.set("x", QParams{0.021F, zero_point});
      expect_plain_linear(params, random);
      params.set("bias", true);
      params.set("batch", Shape{2, 3});
      expect_plain_linear(params, random);
      params.set("activation", std::string("relu"));
      expect_plain_linear(params, random);
    }
  }
}

TEST(LinearQ8taQ8csw, RoundsTiesOfXToEven) {
  Params params = linear_case(1, 4, 1);
  params.set("x", QParams{0.5F, 9});
  const Expected y = linear_answer(params, {floats({1, 4}, {0.25F, 0.75F, 1.25F, -0.75F}),
                                            int8s({1, 4}, {1, 10, 100, -1}), floats({1}, {1})});
  EXPECT_EQ(y.values.at(0), (0 + 2 * 10 + 2 * 100 + 2) * 0.5);
}

TEST(LinearQ8taQ8csw, RoundsTheProductOfScalesAndTheSumOneAfterTheOther) {
  Params params = linear_case(1, 1, 1);
  const float x_scale = 0.1F, w_scale = 0.3F, bias = 0.1F;
  params.set("x", QParams{x_scale, 0});
  params.set("bias", true);
  const Expected y = linear_answer(
      params, {floats({1, 1}, {0.1F}), int8s({1, 1}, {97}), floats({1}, {w_scale}), floats({1}, {bias})});
  const float scale = x_scale * w_scale;
  const float value = 97.0F * scale;
  EXPECT_EQ(y.values.as<float>()[0], value + bias);
  EXPECT_NE(y.values.as<float>()[0], std::fmaf(97.0F, scale, bias));  // what contraction would give
}

TEST(LinearQ8taQ8csw, IsFiniteForNaNAndInfinitiesOfX) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  Params params = linear_case(3, 1, 1);
  params.set("x", QParams{0.5F, 27});
  const Expected y = linear_answer(
      params, {floats({3, 1}, {std::nanf(""), infinity, -infinity}), int8s({1, 1}, {2}), floats({1}, {1})});
  EXPECT_THAT(y.values.as<float>(), ElementsAre(0, 100, -155));
}

TEST(LinearQ8taQ8csw, GivesTheGoldenVectors) {
  const std::vector<Golden> vectors = golden_vectors("linear_q8ta_q8csw");
  EXPECT_EQ(vectors.size(), 16U);
  for (const Golden& golden : vectors) {
    const Params params = linear_case(golden);
    const std::vector<HostTensor> inputs = golden_inputs(golden, {"x", "w", "w_scale", "bias"});
    const QParams x = params.qparams("x");
    const IntegerRows rows = quantized_rows(inputs[0], [&](std::int64_t) { return x; });
    const HostTensor x_q = golden.tensor("x_q");
    for (std::int64_t i = 0; i < x_q.numel(); ++i)
      ASSERT_EQ(rows.values[static_cast<std::size_t>(i)] + x.zero_point, x_q.at(i)) << golden.name;
    // Three roundings, and those of a bias and a sum that may cancel each other.
    std::vector<float> sizes;
    const HostTensor y = golden.tensor("y");
    for (std::int64_t i = 0; i < y.numel(); ++i) {
      const double bias = golden.has("bias") ? inputs[3].at(i % params.integer("N")) : 0;
      sizes.push_back(static_cast<float>(std::fabs(y.at(i)) + 2 * std::fabs(bias)));
    }
    EXPECT_TRUE(near(linear_answer(params, inputs).values, y, sizes, 4)) << golden.name;
  }
}

}  // namespace
}  // namespace assay::references
