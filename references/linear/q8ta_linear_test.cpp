#include "references/linear/q8ta_linear.h"

#include "harness/base/error.h"
#include "references/linear/int8_epilogue_test_support.h"
#include "references/linear/linear.h"
#include "references/linear/linear_test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <optional>

namespace assay::references {
namespace {

using namespace test;

using testing::ElementsAre;

HostTensor q8ta_answer(const Params& params, const std::vector<HostTensor>& inputs) {
  std::vector<Expected> outputs = q8ta_linear(params, inputs);
  EXPECT_EQ(outputs.size(), 1U);
  EXPECT_TRUE(outputs[0].magnitude.empty());
  EXPECT_TRUE(outputs[0].bound.empty());
  return std::move(outputs.at(0).values);
}

Params params_of(std::int64_t m, std::int64_t k, std::int64_t n, const QParams& x, const QParams& y) {
  Params params = linear_case(m, k, n);
  params.set("x", x);
  params.set("y", y);
  return params;
}

/// The integer sum of an element; the zero point is subtracted afterwards.
std::int64_t plain_sum(const Params& params, const std::vector<HostTensor>& inputs, std::int64_t element) {
  const std::int64_t depth = params.integer("K"), columns = params.integer("N");
  std::int64_t acc = 0, w_sum = 0;
  for (std::int64_t k = 0; k < depth; ++k) {
    const auto w = static_cast<std::int64_t>(inputs[1].at(element % columns * depth + k));
    acc += static_cast<std::int64_t>(inputs[0].at(element / columns * depth + k)) * w;
    w_sum += w;
  }
  return acc - params.qparams("x").zero_point * w_sum;
}

void expect_plain_q8ta(const Params& params, std::mt19937& random) {
  const Linear linear = linear_params(params, most_depth_with_zero_point);
  std::vector<HostTensor> inputs{random_tensor(DType::I8, linear.x_shape(), random),
                                 random_tensor(DType::I8, {linear.n, linear.k}, random),
                                 random_scales({linear.n}, random)};
  if (linear.bias) inputs.push_back(random_tensor(DType::F32, {linear.n}, random));
  const HostTensor y = q8ta_answer(params, inputs);
  ASSERT_EQ(y.shape(), linear.y_shape());
  for (std::int64_t i = 0; i < y.numel(); ++i) {
    const std::int64_t n = i % linear.n;
    const auto scale = inputs[2].as<float>()[static_cast<std::size_t>(n)];
    std::optional<float> bias;
    if (linear.bias) bias = inputs[3].as<float>()[static_cast<std::size_t>(n)];
    ASSERT_EQ(y.at(i), plain_int8(params, plain_sum(params, inputs, i), scale, bias))
        << params.canonical() << " element " << i;
  }
}

TEST(Q8taLinear, AgreesWithTheStepsAsTheyAreStated) {
  std::mt19937 random(41);
  for (const std::string epilogue : {"float32", "fixed_point"}) {
    for (const std::int32_t zero_point : {-128, -3, 127}) {
      Params params = params_of(9, 68, 13, {0.02F, zero_point}, {2.1F, 5});
      params.set("epilogue", epilogue);
      expect_plain_q8ta(params, random);
      params.set("bias", true);
      params.set("batch", Shape{2, 3});
      expect_plain_q8ta(params, random);
      params.set("activation", std::string("relu"));
      expect_plain_q8ta(params, random);
    }
  }
}

/// A product of x times 1 for every x: sums are x - x.zero_point.
HostTensor q8ta_scaled(const Params& params, const std::vector<int>& x) {
  const auto rows = static_cast<std::int64_t>(x.size());
  return q8ta_answer(params, {int8s({rows, 1}, x), int8s({1, 1}, {1}), floats({1}, {0.5F})});
}

TEST(Q8taLinear, RoundsTiesToEvenByFloatsAndUpByIntegers) {
  Params params = params_of(5, 1, 1, {1, 0}, {1, 10});
  EXPECT_THAT(q8ta_scaled(params, {1, 3, 5, -1, -3}).as<std::int8_t>(), ElementsAre(10, 12, 12, 10, 8));
  params.set("epilogue", std::string("fixed_point"));
  EXPECT_THAT(q8ta_scaled(params, {1, 3, 5, -1, -3}).as<std::int8_t>(), ElementsAre(11, 12, 13, 10, 9));
}

TEST(Q8taLinear, MultipliesByTheReciprocal) {
  const float y_scale = 0.3F, inverse = 1.0F / y_scale;
  std::vector<int> differing;  // values of x whose half times y_scale lies next to a tie
  for (int x = -127; x <= 127; ++x) {
    const float f = static_cast<float>(x) * (y_scale * 0.5F);
    if (std::nearbyint(f * inverse) != std::nearbyint(f / y_scale)) differing.push_back(x);
  }
  ASSERT_GT(differing.size(), 3U);
  const HostTensor y =
      q8ta_scaled(params_of(std::ssize(differing), 1, 1, {y_scale, 0}, {y_scale, 0}), differing);
  for (std::size_t i = 0; i < differing.size(); ++i) {
    const float f = static_cast<float>(differing[i]) * (y_scale * 0.5F);
    EXPECT_EQ(y.as<std::int8_t>()[i], std::nearbyint(f * inverse)) << differing[i];
  }
}

TEST(Q8taLinear, SaturatesAndRectifies) {
  for (const std::string epilogue : {"float32", "fixed_point"}) {
    Params params = params_of(3, 1, 1, {1, 27}, {0.25F, -100});
    params.set("epilogue", epilogue);
    EXPECT_THAT(q8ta_scaled(params, {-128, 27, 127}).as<std::int8_t>(), ElementsAre(-128, -100, 100));
    params.set("activation", std::string("relu"));
    EXPECT_THAT(q8ta_scaled(params, {-128, 27, 127}).as<std::int8_t>(), ElementsAre(-100, -100, 100));
    params.set("y", QParams{0.125F, -100});
    EXPECT_THAT(q8ta_scaled(params, {-128, 27, 127}).as<std::int8_t>(), ElementsAre(-100, -100, 127));
  }
}

TEST(Q8taLinear, ANaNOfTheBiasGivesTheZeroPoint) {
  Params params = params_of(1, 1, 1, {1, 0}, {1, 10});
  params.set("bias", true);
  for (const std::string activation : {"none", "relu"}) {
    params.set("activation", activation);
    const HostTensor y = q8ta_answer(
        params, {int8s({1, 1}, {9}), int8s({1, 1}, {1}), floats({1}, {1}), floats({1}, {std::nanf("")})});
    EXPECT_EQ(y.at(0), 10);
  }
}

TEST(Q8taLinear, RefusesScalesThatTheFixedPointDoesNotHold) {
  Params params = params_of(1, 1, 1, {1, 0}, {0x1p-40F, 0});
  EXPECT_NO_THROW(q8ta_scaled(params, {1}));
  params.set("epilogue", std::string("fixed_point"));
  try {
    q8ta_scaled(params, {1});
    FAIL() << "accepted";
  } catch (const ParameterError& error) {
    EXPECT_EQ(error.parameter(), "epilogue");
  }
}

TEST(Q8taLinear, GivesTheGoldenVectors) {
  const std::vector<Golden> vectors = golden_vectors("q8ta_linear");
  EXPECT_EQ(vectors.size(), 32U);
  std::int64_t flips = 0;
  for (const Golden& golden : vectors) {
    const HostTensor pre = golden.tensor("pre");
    const HostTensor y =
        q8ta_answer(linear_case(golden), golden_inputs(golden, {"x", "w", "w_scale", "bias"}));
    const GoldenMatch match = compare(y, golden.tensor("y"), &pre);
    EXPECT_EQ(match.mismatches, 0) << golden.name;
    flips += match.flips;
  }
  EXPECT_EQ(flips, 0);
}

}  // namespace
}  // namespace assay::references
