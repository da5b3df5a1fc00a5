#include "references/linear/linear_grouped.h"

#include "references/common/qparams.h"
#include "references/linear/linear.h"
#include "references/linear/linear_test_support.h"
#include "references/linear/products.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay::references {
namespace {

using namespace test;
using testing::ElementsAre;

Expected dynamic_answer(const Params& params, const std::vector<HostTensor>& inputs) {
  std::vector<Expected> outputs = linear_dq8ca_q4gsw(params, inputs);
  EXPECT_EQ(outputs.size(), 1U);
  return std::move(outputs.at(0));
}

std::vector<HostTensor> random_weights(const Linear& linear, std::mt19937& random) {
  std::vector<HostTensor> weights{random_tensor(DType::U8, {linear.n, linear.k / 2}, random),
                                  random_scales({linear.groups(), linear.n}, random)};
  if (linear.bias) weights.push_back(random_tensor(DType::F32, {linear.n}, random));
  return weights;
}

std::vector<HostTensor> joined(std::vector<HostTensor> first, const std::vector<HostTensor>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

/// The formula of one element, written as the header states it; `x_q` in float32.
struct PlainDynamic {
  double value = 0, magnitude = 0;

  PlainDynamic(const Linear& linear, const std::vector<HostTensor>& inputs, std::int64_t element) {
    const std::int64_t m = element / linear.n, n = element % linear.n;
    const auto scale = static_cast<float>(inputs[1].at(m)), inverse = 1.0F / scale;
    const auto zero_point = static_cast<float>(inputs[2].at(m));
    for (std::int64_t first = 0; first < linear.k; first += 8) {
      double sum = 0;
      for (std::int64_t k = first; k < first + 8; ++k) {
        const auto byte = static_cast<int>(inputs[3].at(n * (linear.k / 2) + k / 2));
        const int nibble = k % 2 == 0 ? byte % 16 : byte / 16;
        const float scaled = static_cast<float>(inputs[0].at(m * linear.k + k)) * inverse;
        const float q = std::clamp(std::nearbyint(scaled) + zero_point, -128.0F, 127.0F);
        sum += static_cast<double>(q - zero_point) * (nibble - 8);
      }
      const double factor =
          static_cast<double>(scale) * inputs[4].at(first / linear.group_size * linear.n + n);
      value += factor * sum;
      magnitude += factor * std::fabs(sum);
    }
    if (linear.bias) value += inputs[5].at(n);
    if (linear.bias) magnitude += std::fabs(inputs[5].at(n));
    if (linear.activation == Activation::Relu) value = std::max(value, 0.0);
  }
};

void expect_plain_dynamic(const Params& params, std::mt19937& random) {
  const Linear linear = linear_params(params, most_depth_with_zero_point);
  const std::vector<HostTensor> inputs =
      joined({random_tensor(linear.real, linear.x_shape(), random), random_scales(linear.row_shape(), random),
              random_zero_points(linear.row_shape(), -128, 127, random)},
             random_weights(linear, random));
  const Expected y = dynamic_answer(params, inputs);
  ASSERT_EQ(y.values.shape(), linear.y_shape());
  EXPECT_EQ(y.bound.empty(), linear.real == DType::F32);
  for (std::int64_t i = 0; i < y.values.numel(); ++i) {
    const PlainDynamic plain(linear, inputs, i);
    ASSERT_NEAR(y.values.at(i), plain.value, plain.magnitude * 1e-13)
        << params.canonical() << " element " << i;
    ASSERT_NEAR(y.magnitude[static_cast<std::size_t>(i)], plain.magnitude, plain.magnitude * 0x1p-22) << i;
  }
}

TEST(LinearDq8caQ4gsw, AgreesWithThePlainFormula) {
  std::mt19937 random(41);
  for (const std::int64_t group_size : {8, 96, 192}) {
    for (const std::string dtype : {"f32", "f16"}) {
      Params params = linear_case(5, 192, 19, group_size);
      params.set("dtype", dtype);
      expect_plain_dynamic(params, random);
      params.set("bias", true);
      params.set("batch", Shape{2, 2});
      expect_plain_dynamic(params, random);
      params.set("activation", std::string("relu"));
      expect_plain_dynamic(params, random);
    }
  }
}

/// The scale and zero point of each row, computed here: values that are not finite are skipped.
std::vector<HostTensor> per_row_qparams(const Linear& linear, const HostTensor& x) {
  std::vector<HostTensor> made{HostTensor(DType::F32, linear.row_shape()),
                               HostTensor(DType::I32, linear.row_shape())};
  for (std::int64_t row = 0; row < linear.rows(); ++row) {
    float low = 0, high = 0;
    for (std::int64_t k = 0; k < linear.k; ++k) {
      const auto value = static_cast<float>(x.at(row * linear.k + k));
      if (!std::isfinite(value)) continue;
      low = std::min(low, value);
      high = std::max(high, value);
    }
    const QParams chosen = choose_qparams(QParamsRule::PerRow, {-128, 127, 0}, low, high);
    made[0].as<float>()[static_cast<std::size_t>(row)] = chosen.scale;
    made[1].as<std::int32_t>()[static_cast<std::size_t>(row)] = chosen.zero_point;
  }
  return made;
}

/// A row with infinities, one of zeros, one above zero and one with small values.
HostTensor awkward_x(const Linear& linear, std::mt19937& random) {
  HostTensor x = random_tensor(DType::F32, linear.x_shape(), random);
  const auto row = [&](std::int64_t m) {
    return x.as<float>().subspan(static_cast<std::size_t>(m * linear.k), static_cast<std::size_t>(linear.k));
  };
  row(0)[1] = std::numeric_limits<float>::infinity();
  row(0)[2] = -std::numeric_limits<float>::infinity();
  row(0)[3] = std::nanf("");
  for (float& value : row(1)) value = 0;
  for (float& value : row(2)) value = std::fabs(value) + 3;
  for (float& value : row(3)) value *= 1e-6F;
  return x;
}

TEST(LinearDq8caQ4gsw, DynamicIsGivenWithScalesChosenPerRow) {
  std::mt19937 random(42);
  Params params = linear_case(3, 64, 7, 16);
  params.set("batch", Shape{2});
  params.set("bias", true);
  const Linear linear = linear_params(params, most_depth_with_zero_point);
  const HostTensor x = awkward_x(linear, random);
  const std::vector<HostTensor> weights = random_weights(linear, random);
  const Expected given = dynamic_answer(params, joined(joined({x}, per_row_qparams(linear, x)), weights));
  params.set("activations", std::string("dynamic"));
  const Expected dynamic = dynamic_answer(params, joined({x}, weights));
  ASSERT_EQ(dynamic.values.shape(), linear.y_shape());
  EXPECT_TRUE(same_bytes(dynamic.values, given.values, 0, given.values.numel()));
  EXPECT_EQ(dynamic.magnitude, given.magnitude);
  for (std::int64_t i = 0; i < dynamic.values.numel(); ++i) ASSERT_TRUE(std::isfinite(dynamic.values.at(i)));
  for (std::int64_t n = 0; n < linear.n; ++n) EXPECT_EQ(dynamic.values.at(linear.n + n), weights[2].at(n));
}

TEST(LinearDq8caQ4gsw, DynamicOfHalvesIsThatOfTheirFloats) {
  std::mt19937 random(43);
  Params params = linear_case(4, 32, 5, 32);
  params.set("activations", std::string("dynamic"));
  const HostTensor x = random_tensor(DType::F16, {4, 32}, random);
  HostTensor widened(DType::F32, {4, 32});
  for (std::size_t i = 0; i < 128; ++i) widened.as<float>()[i] = to_float(x.as<Half>()[i]);
  const std::vector<HostTensor> weights =
      random_weights(linear_params(params, most_depth_with_zero_point), random);
  const Expected of_halves = dynamic_answer(params, joined({x}, weights));
  EXPECT_TRUE(same_bytes(of_halves.values, dynamic_answer(params, joined({widened}, weights)).values, 0, 20));
}

TEST(LinearDq8caQ4gsw, GivesTheGoldenVectors) {
  const std::vector<Golden> vectors = golden_vectors("linear_dq8ca_q4gsw");
  EXPECT_EQ(vectors.size(), 9U);
  for (const Golden& golden : vectors) {
    const std::vector<HostTensor> inputs =
        golden_inputs(golden, {"x", "x_scale", "x_zero_point", "w", "w_scale", "bias"});
    const auto qparams = [&](std::int64_t row) {
      return QParams{static_cast<float>(inputs[1].at(row)), static_cast<std::int32_t>(inputs[2].at(row))};
    };
    const IntegerRows rows = quantized_rows(inputs[0], qparams);
    const HostTensor x_q = golden.tensor("x_q");
    for (std::int64_t i = 0; i < x_q.numel(); ++i) {
      const std::int32_t zero_point = qparams(i / rows.depth).zero_point;
      ASSERT_EQ(rows.values[static_cast<std::size_t>(i)] + zero_point, x_q.at(i)) << golden.name;
    }
    const Expected y = dynamic_answer(linear_case(golden), inputs);
    EXPECT_TRUE(near(y.values, golden.tensor("y"), y.magnitude, 1e-6)) << golden.name;
  }
}

const std::vector<std::string> input_names{"x",       "x_scale",      "x_zero_point", "w",
                                           "w_scale", "w_zero_point", "bias"};

Expected real_answer(const Params& params, const std::vector<HostTensor>& inputs) {
  std::vector<Expected> outputs = linear_qta8a_qga4w(params, inputs);
  EXPECT_EQ(outputs.size(), 1U);
  return std::move(outputs.at(0));
}

Expected int8_answer(const Params& params, const std::vector<HostTensor>& inputs) {
  std::vector<Expected> outputs = linear_qta8a_qga4w_qta8o(params, inputs);
  EXPECT_EQ(outputs.size(), 1U);
  return std::move(outputs.at(0));
}

/// The formula of one element, written as the header states it.
struct PlainGrouped {
  double value = 0, magnitude = 0;

  PlainGrouped(const Linear& linear, const std::vector<HostTensor>& inputs, std::int64_t element) {
    const std::int64_t m = element / linear.n, n = element % linear.n;
    for (std::int64_t first = 0; first < linear.k; first += 8) {
      const double scale = inputs[4].at(first / linear.group_size * linear.n + n) * inputs[1].at(m);
      const double sum = sum_of_block(linear, inputs, m, n, first);
      value += scale * sum;
      magnitude += scale * std::fabs(sum);
    }
    if (linear.bias) value += inputs[6].at(n);
    if (linear.bias) magnitude += std::fabs(inputs[6].at(n));
    if (linear.activation == Activation::Relu) value = std::max(value, 0.0);
  }

  static double sum_of_block(const Linear& linear, const std::vector<HostTensor>& inputs, std::int64_t m,
                             std::int64_t n, std::int64_t first) {
    const std::int64_t g = first / linear.group_size;
    double sum = 0;
    for (std::int64_t k = first; k < first + 8; ++k) {
      const auto byte = static_cast<int>(inputs[3].at(n * (linear.k / 2) + k / 2));
      const int nibble = k % 2 == 0 ? byte / 16 : byte % 16;
      sum +=
          (inputs[0].at(m * linear.k + k) - inputs[2].at(m)) * (nibble - 8 - inputs[5].at(g * linear.n + n));
    }
    return sum;
  }
};

std::vector<HostTensor> random_grouped_inputs(const Linear& linear, std::mt19937& random) {
  const Shape groups{linear.groups(), linear.n};
  std::vector<HostTensor> inputs{random_tensor(DType::I8, linear.x_shape(), random),
                                 random_scales(linear.row_shape(), random),
                                 random_zero_points(linear.row_shape(), -128, 127, random),
                                 random_tensor(DType::U8, {linear.n, linear.k / 2}, random),
                                 random_scales(groups, random),
                                 random_zero_points(groups, -8, 7, random)};
  if (linear.bias) inputs.push_back(random_tensor(DType::F32, {linear.n}, random));
  return inputs;
}

void expect_plain_reals(const Params& params, const std::vector<HostTensor>& inputs) {
  const Linear linear = linear_params(params, most_depth_with_zero_point);
  const Expected y = real_answer(params, inputs);
  ASSERT_EQ(y.values.shape(), linear.y_shape());
  for (std::int64_t i = 0; i < y.values.numel(); ++i) {
    const PlainGrouped plain(linear, inputs, i);
    const auto magnitude = static_cast<double>(y.magnitude[static_cast<std::size_t>(i)]);
    ASSERT_NEAR(y.values.at(i), plain.value, plain.magnitude * 1e-13)
        << params.canonical() << " element " << i;
    ASSERT_NEAR(magnitude, plain.magnitude, plain.magnitude * 0x1p-22)
        << params.canonical() << " element " << i;
  }
}

void expect_plain_integers(const Params& params, const std::vector<HostTensor>& inputs) {
  const Linear linear = linear_params(params, most_depth_with_zero_point);
  const Expected y = int8_answer(params, inputs);
  ASSERT_EQ(y.values.shape(), linear.y_shape());
  const QParams to = params.qparams("y");
  const auto inverse = static_cast<double>(1.0F / to.scale);
  for (std::int64_t i = 0; i < y.values.numel(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const PlainGrouped plain(linear, inputs, i);
    const double unrounded = plain.value * inverse + to.zero_point, magnitude = plain.magnitude * inverse;
    ASSERT_NEAR(y.unrounded[at], unrounded, magnitude * 1e-13 + 1e-12)
        << params.canonical() << " element " << i;
    ASSERT_EQ(y.values.at(i), std::clamp(std::nearbyint(unrounded), -128.0, 127.0)) << " element " << i;
    ASSERT_NEAR(y.magnitude[at], magnitude, magnitude * 0x1p-22) << params.canonical() << " element " << i;
  }
}

void expect_plain_qga4w(const Params& params, std::mt19937& random) {
  const std::vector<HostTensor> inputs =
      random_grouped_inputs(linear_params(params, most_depth_with_zero_point), random);
  expect_plain_reals(params, inputs);
  expect_plain_integers(params, inputs);
}

TEST(LinearQta8aQga4w, AgreesWithThePlainFormula) {
  std::mt19937 random(41);
  for (const std::int64_t group_size : {8, 96, 192}) {
    Params params = linear_case(5, 192, 19, group_size);
    params.set("y", QParams{7.7F, -3});
    expect_plain_qga4w(params, random);
    params.set("bias", true);
    params.set("batch", Shape{2, 2});
    expect_plain_qga4w(params, random);
    params.set("activation", std::string("relu"));
    expect_plain_qga4w(params, random);
  }
}

/// One element: x is 1, 2, 0, ... with scale 0.5, and w 3, -1, 0, ... with `w_scale`.
std::vector<HostTensor> one_element(float w_scale) {
  return {int8s({1, 8}, {1, 2, 0, 0, 0, 0, 0, 0}),        floats({1}, {0.5F}),       int32s({1}, {0}),
          int4s({1, 8}, {3, -1, 0, 0, 0, 0, 0, 0}, true), floats({1, 1}, {w_scale}), int32s({1, 1}, {0})};
}

TEST(LinearQta8aQga4w, TakesTheHighNibbleOfAByteFirst) {
  EXPECT_EQ(real_answer(linear_case(1, 8, 1, 8), one_element(4)).values.at(0), 2);
}

TEST(LinearQta8aQga4w, ZeroPointsAtBothEnds) {
  for (const std::int32_t x_zero_point : {-128, 127}) {
    for (const std::int32_t w_zero_point : {-8, 7}) {
      std::vector<HostTensor> inputs = one_element(4);
      inputs[2] = int32s({1}, {x_zero_point});
      inputs[5] = int32s({1, 1}, {w_zero_point});
      const int x = x_zero_point, w = w_zero_point;
      const int sum = (1 - x) * (3 - w) + (2 - x) * (-1 - w) + 6 * -x * -w;
      EXPECT_EQ(real_answer(linear_case(1, 8, 1, 8), inputs).values.at(0), 2 * sum) << x << " " << w;
    }
  }
}

TEST(LinearQta8aQga4w, HalvesAreBoundedByAUlpMore) {
  Params params = linear_case(1, 8, 1, 8);
  params.set("dtype", std::string("f16"));
  const Expected y = real_answer(params, one_element(4));
  EXPECT_THAT(y.bound, ElementsAre(0x1p-9F));
  EXPECT_THAT(y.magnitude, ElementsAre(2));
}

TEST(LinearQta8aQga4wQta8o, OnATieRoundsToEvenWithoutABand) {
  Params params = linear_case(1, 8, 1, 8);
  params.set("y", QParams{0.25F, 1});
  for (const auto& [w_scale, want] : {std::pair{0.25F, 1}, {0.75F, 3}, {1.25F, 3}, {-0.75F, -1}}) {
    const Expected y = int8_answer(params, one_element(w_scale));
    EXPECT_EQ(y.unrounded[0], static_cast<double>(w_scale) * 2 + 1);
    EXPECT_EQ(y.values.at(0), want) << w_scale;
    EXPECT_EQ(y.magnitude[0], 0) << w_scale;
  }
}

TEST(LinearQta8aQga4wQta8o, HasABandWhereAStepRounds) {
  Params params = linear_case(1, 8, 1, 8);
  params.set("y", QParams{0.25F, 1});
  const auto magnitude = [&](float w_scale) {
    return int8_answer(params, one_element(w_scale)).magnitude[0];
  };
  EXPECT_EQ(magnitude(0.1F), 0);  // 1 * 0.1F * 0.5F * 4: no step rounds
  params.set("y", QParams{0.3F, 1});
  EXPECT_EQ(magnitude(0.1F), static_cast<float>(0.05F * static_cast<double>(1.0F / 0.3F)));
  params.set("y", QParams{0.25F, 1});
  params.set("bias", true);
  std::vector<HostTensor> inputs = one_element(0.1F);
  inputs.push_back(floats({1}, {-3}));
  EXPECT_EQ(int8_answer(params, inputs).magnitude[0], static_cast<float>((3 + 0.5 * 0.1F) * 4));
}

TEST(LinearQta8aQga4wQta8o, HasABandWhereABiasCancelsWhatWasRounded) {
  Params params = linear_case(1, 8, 1, 8);
  params.set("y", QParams{1, 0});
  params.set("bias", true);
  const float scale = 1 + 0x1p-15F;  // its square is not a float32, but its square minus this bias is
  std::vector<HostTensor> inputs = one_element(scale);
  inputs[1] = floats({1}, {scale});
  inputs.push_back(floats({1}, {-1 - 0x1p-14F}));
  const Expected y = int8_answer(params, inputs);
  EXPECT_EQ(y.unrounded[0], 0x1p-30);
  EXPECT_GT(y.magnitude[0], 2);
}

TEST(LinearQta8aQga4wQta8o, SaturatesRectifiesAndTakesNaNForTheZeroPoint) {
  Params params = linear_case(1, 8, 1, 8);
  params.set("y", QParams{0.25F, -20});
  EXPECT_EQ(int8_answer(params, one_element(1e6F)).values.at(0), 127);
  EXPECT_EQ(int8_answer(params, one_element(-1e6F)).values.at(0), -128);
  params.set("activation", std::string("relu"));
  EXPECT_EQ(int8_answer(params, one_element(-4)).values.at(0), -20);
  EXPECT_EQ(int8_answer(params, one_element(4)).values.at(0), -12);
  params.set("bias", true);
  std::vector<HostTensor> inputs = one_element(4);
  inputs.push_back(floats({1}, {std::nanf("")}));
  const Expected y = int8_answer(params, inputs);
  EXPECT_EQ(y.values.at(0), -20);
  EXPECT_EQ(y.unrounded[0], -20);
  EXPECT_EQ(y.magnitude[0], 0);
}

TEST(LinearQta8aQga4wQta8o, GivesTheGoldenVectorsAndSoDoesItsSibling) {
  const std::vector<Golden> vectors = golden_vectors("linear_qta8a_qga4w_qta8o");
  EXPECT_EQ(vectors.size(), 9U);
  std::int64_t flips = 0;
  for (const Golden& golden : vectors) {
    const std::vector<HostTensor> inputs = golden_inputs(golden, input_names);
    const HostTensor pre = golden.tensor("pre");
    const GoldenMatch match =
        compare(int8_answer(linear_case(golden), inputs).values, golden.tensor("y"), &pre);
    EXPECT_EQ(match.mismatches, 0) << golden.name;
    flips += match.flips;
    const Expected real = real_answer(linear_case(golden), inputs);
    EXPECT_TRUE(near(real.values, golden.tensor("y_float"), real.magnitude, 1e-6)) << golden.name;
  }
  EXPECT_EQ(flips, 0);
}

}  // namespace

}  // namespace assay::references
