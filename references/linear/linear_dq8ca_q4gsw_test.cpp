#include "references/linear/linear_dq8ca_q4gsw.h"

#include "references/common/qparams.h"
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
    if (linear.relu) value = std::max(value, 0.0);
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

}  // namespace
}  // namespace assay::references
