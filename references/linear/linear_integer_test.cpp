#include "references/linear/linear_integer.h"

#include "harness/base/error.h"
#include "references/linear/linear.h"
#include "references/linear/linear_test_support.h"
#include "references/linear/products.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace assay::references {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::HasSubstr;

/// floor(a * mult / 2^shift + 1/2) without a shift of a negative number: an independent way to compute it.
std::int64_t plainly_rounded(std::int64_t a, const FixedPoint& by) {
  __extension__ using Wide = __int128;
  const Wide one = Wide{1} << by.shift;
  const Wide doubled = Wide{a} * by.mult * 2 + one;  // 2 * (a * mult + 2^(shift - 1))
  Wide quotient = doubled / (one * 2);
  if (doubled < 0 && quotient * one * 2 != doubled) --quotient;
  return static_cast<std::int64_t>(quotient);
}

TEST(FixedPoint, IsTheFactorTo31Bits) {
  std::mt19937 random(41);
  std::uniform_real_distribution<double> exponent(-30.9, 29.9);
  for (int i = 0; i < 2000; ++i) {
    const double r = std::exp2(exponent(random));
    const FixedPoint made = fixed_point(r).value();
    EXPECT_GE(made.mult, std::int64_t{1} << 30);
    EXPECT_LT(made.mult, std::int64_t{1} << 31);
    const long double back = std::ldexp(static_cast<long double>(made.mult), -made.shift);
    EXPECT_LE(std::fabs(back - static_cast<long double>(r)), static_cast<long double>(r) * 0x1p-31L) << r;
  }
}

TEST(FixedPoint, HasEndsAndCarries) {
  EXPECT_EQ(fixed_point(0.5)->mult, 1 << 30);
  EXPECT_EQ(fixed_point(0.5)->shift, 31);
  const FixedPoint carried = fixed_point(std::nextafter(1.0, 0.0)).value();  // llrint gives 2^31
  EXPECT_EQ(carried.mult, 1 << 30);
  EXPECT_EQ(carried.shift, 30);
  EXPECT_EQ(fixed_point(0x1p-32)->shift, 62);
  EXPECT_FALSE(fixed_point(0x1p-33).has_value());
  EXPECT_EQ(fixed_point(0x1.8p29)->shift, 1);
  EXPECT_FALSE(fixed_point(0x1p30).has_value());
}

TEST(Requantized, RoundsAsTheExactQuotientDoes) {
  std::mt19937 random(42);
  std::uniform_int_distribution<std::int32_t> any_sum(std::numeric_limits<std::int32_t>::min());
  std::uniform_int_distribution<std::int64_t> any_mult(std::int64_t{1} << 30, (std::int64_t{1} << 31) - 1);
  std::uniform_int_distribution<int> any_shift(1, 62);
  int inside = 0;
  for (int i = 0; i < 20000; ++i) {
    FixedPointChannel channel;
    channel.factor = {any_mult(random), any_shift(random)};
    const std::int32_t sum = any_sum(random) >> (i % 31);
    const std::int64_t want = plainly_rounded(sum, channel.factor) + 3;
    inside += want >= -128 && want <= 127 ? 1 : 0;
    ASSERT_EQ(requantized(channel, sum, false, 3), std::clamp<std::int64_t>(want, -128, 127))
        << sum << " * " << channel.factor.mult << " >> " << channel.factor.shift;
  }
  EXPECT_GT(inside, 5000);
}

TEST(Requantized, TiesGoUp) {
  FixedPointChannel half;
  half.factor = fixed_point(0.5).value();
  EXPECT_EQ(requantized(half, 1, false, 0), 1);    // 0.5
  EXPECT_EQ(requantized(half, 3, false, 0), 2);    // 1.5
  EXPECT_EQ(requantized(half, -1, false, 0), 0);   // -0.5
  EXPECT_EQ(requantized(half, -3, false, 0), -1);  // -1.5
}

TEST(Requantized, AddsTheBiasThenReluThenTheZeroPoint) {
  FixedPointChannel channel{fixed_point(1.0).value(), 10};
  EXPECT_EQ(requantized(channel, -30, false, 5), -15);
  EXPECT_EQ(requantized(channel, -30, true, 5), 5);
  EXPECT_EQ(requantized(channel, 30, true, 5), 45);
  EXPECT_EQ(requantized(channel, 300, true, 5), 127);
  EXPECT_EQ(requantized(channel, -300, false, 5), -128);
}

std::vector<FixedPointChannel> channels(const QParams& x, const QParams& y, std::vector<float> w_scale,
                                        std::vector<float> bias) {
  const auto n = static_cast<std::int64_t>(w_scale.size());
  const IntegerRows w{n, 4, std::vector<std::int16_t>(w_scale.size() * 4, -100)};
  return fixed_point_channels(x, y, w, w_scale, bias);
}

TEST(FixedPointChannels, HaveTheirBiasInUnitsOfTheSums) {
  const auto made = channels({0.5F, 3}, {0.25F, 0}, {0.125F, 2.0F}, {1.0F, -2.5F});
  EXPECT_EQ(made[0].factor.shift, 32);  // 0.25
  EXPECT_EQ(made[1].factor.shift, 28);  // 4
  EXPECT_EQ(made[0].bias, 16);
  EXPECT_EQ(made[1].bias, -2);  // -2.5: ties to even
}

std::string refusal(const QParams& x, const QParams& y, std::vector<float> w_scale, std::vector<float> bias) {
  try {
    channels(x, y, std::move(w_scale), std::move(bias));
  } catch (const ParameterError& error) {
    return error.parameter() + ": " + error.what();
  }
  return "accepted";
}

TEST(FixedPointChannels, RefuseFactorsOutOfReachNamingTheChannel) {
  EXPECT_EQ(refusal({1, 0}, {1, 0}, {1, 0x1p29F}, {}), "accepted");
  EXPECT_THAT(refusal({1, 0}, {1, 0}, {1, 0x1p30F}, {}), HasSubstr("epilogue: fixed_point"));
  EXPECT_THAT(refusal({1, 0}, {1, 0}, {1, 0x1p30F}, {}), HasSubstr("w_scale[1]"));
  EXPECT_EQ(refusal({1, 0}, {1, 0}, {0x1p-32F}, {}), "accepted");
  EXPECT_THAT(refusal({1, 0}, {1, 0}, {0x1p-33F}, {}), HasSubstr("w_scale[0]"));
}

TEST(FixedPointChannels, RefuseABiasWithWhichSumsCouldLeaveInt32) {
  // Sums of 4 * 100 * 131 = 52400 are possible; 2^31 - 1 minus that is 2147431247.
  const QParams x{1, -4};
  EXPECT_EQ(refusal(x, {1, 0}, {1}, {2147431168.0F}), "accepted");
  EXPECT_THAT(refusal(x, {1, 0}, {1}, {2147431296.0F}), HasSubstr("output channel 0"));
  EXPECT_THAT(refusal({1, 3}, {1, 0}, {1}, {-2147431296.0F}), HasSubstr("output channel 0"));
  EXPECT_THAT(refusal(x, {1, 0}, {1, 1}, {0, -1e30F}), HasSubstr("output channel 1, -2147483648"));
}

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
