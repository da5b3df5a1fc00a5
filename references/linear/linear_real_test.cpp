#include "references/linear/linear_real.h"

#include "references/linear/linear.h"
#include "references/linear/linear_test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace assay::references {
namespace {

using namespace test;
using testing::ElementsAre;

Expected q8csw_answer(const Params& params, const std::vector<HostTensor>& inputs) {
  std::vector<Expected> outputs = linear_q8csw(params, inputs);
  EXPECT_EQ(outputs.size(), 1U);
  return std::move(outputs.at(0));
}

std::vector<double> values_of(const Expected& expected) {
  const auto all = expected.values.as<double>();
  return {all.begin(), all.end()};
}

TEST(LinearQ8csw, ScalesChannelsAndAddsTheBias) {
  Params params = linear_case(2, 3, 2);
  std::vector<HostTensor> inputs{floats({2, 3}, {1, -2, 0.5F, 0, 4, -1}),
                                 int8s({2, 3}, {1, 2, -128, 127, 0, 2}), floats({2}, {0.5F, 0.25F})};
  EXPECT_THAT(values_of(q8csw_answer(params, inputs)), ElementsAre(-33.5, 32, 68, -0.5));
  params.set("bias", true);
  inputs.push_back(floats({2}, {0.5F, -32}));
  const Expected biased = q8csw_answer(params, inputs);
  EXPECT_THAT(values_of(biased), ElementsAre(-33, 0, 68.5, -32.5));
  // Sums of |x||w| are 69, 128, 136, 2.
  const std::vector<float> least{35, 64, 68.5F, 32.5F};
  for (std::size_t i = 0; i < least.size(); ++i) {
    EXPECT_GE(biased.magnitude[i], least[i]) << i;
    EXPECT_LE(biased.magnitude[i], least[i] * (1 + 0x1p-14F)) << i;
  }
  params.set("activation", std::string("relu"));
  EXPECT_THAT(values_of(q8csw_answer(params, inputs)), ElementsAre(0, 0, 68.5, 0));
}

TEST(LinearQ8csw, BatchesAreMoreRowsAndHalvesAreRead) {
  Params params = linear_case(1, 2, 2);
  params.set("batch", Shape{3, 1});
  params.set("dtype", std::string("f16"));
  const Expected y = q8csw_answer(params, {halves({3, 1, 1, 2}, {1, 2, 3, 4, 5, 6}),
                                           int8s({2, 2}, {1, 0, 0, 1}), floats({2}, {1, 0.5F})});
  EXPECT_THAT(y.values.shape(), ElementsAre(3, 1, 1, 2));
  EXPECT_THAT(values_of(y), ElementsAre(1, 1, 3, 2, 5, 3));
  EXPECT_THAT(y.bound, ElementsAre(0x1p-10F, 0x1p-10F, 0x1p-9F, 0x1p-9F, 0x1p-8F, 0x1p-9F));
}

TEST(LinearQ8csw, NaNAndInfinitiesGiveWhatRealArithmeticDoes) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  Params params = linear_case(2, 2, 2);
  params.set("activation", std::string("relu"));
  const Expected y = q8csw_answer(params, {floats({2, 2}, {infinity, 1, std::nanf(""), 1}),
                                           int8s({2, 2}, {1, 1, -1, 1}), floats({2}, {1, 1})});
  EXPECT_EQ(y.values.at(0), infinity);
  EXPECT_EQ(y.values.at(1), 0);
  EXPECT_TRUE(std::isnan(y.values.at(2)));
  EXPECT_EQ(y.magnitude[0], 0);
  EXPECT_EQ(y.magnitude[2], 0);
}

TEST(LinearQ8csw, GivesTheGoldenVectors) {
  const std::vector<Golden> vectors = golden_vectors("linear_q8csw");
  EXPECT_EQ(vectors.size(), 16U);
  for (const Golden& golden : vectors) {
    const Expected y =
        q8csw_answer(linear_case(golden), golden_inputs(golden, {"x", "w", "w_scale", "bias"}));
    EXPECT_TRUE(near(y.values, golden.tensor("y"), y.magnitude, 1e-6)) << golden.name;
  }
}

Expected q4gsw_answer(const Params& params, const std::vector<HostTensor>& inputs) {
  std::vector<Expected> outputs = linear_q4gsw(params, inputs);
  EXPECT_EQ(outputs.size(), 1U);
  return std::move(outputs.at(0));
}

std::vector<HostTensor> random_inputs(const Linear& linear, std::mt19937& random) {
  std::vector<HostTensor> inputs{random_tensor(linear.real, linear.x_shape(), random),
                                 random_tensor(DType::U8, {linear.n, linear.k / 2}, random),
                                 random_scales({linear.groups(), linear.n}, random)};
  if (linear.bias) inputs.push_back(random_tensor(DType::F32, {linear.n}, random));
  return inputs;
}

/// The formula of one element, written as the header states it.
struct PlainQ4 {
  double value = 0, magnitude = 0;

  PlainQ4(const Linear& linear, const std::vector<HostTensor>& inputs, std::int64_t element) {
    const std::int64_t m = element / linear.n, n = element % linear.n;
    for (std::int64_t k = 0; k < linear.k; ++k) {
      const auto byte = static_cast<int>(inputs[1].at(n * (linear.k / 2) + k / 2));
      const int nibble = k % 2 == 0 ? byte % 16 : byte / 16;
      const double scale = inputs[2].at(k / linear.group_size * linear.n + n);
      const double term = inputs[0].at(m * linear.k + k) * (nibble - 8) * scale;
      value += term;
      magnitude += std::fabs(term);
    }
    if (linear.bias) value += inputs[3].at(n);
    if (linear.bias) magnitude += std::fabs(inputs[3].at(n));
    if (linear.activation == Activation::Relu) value = std::fmax(value, 0.0);
  }
};

void expect_plain_q4gsw(const Params& params, std::mt19937& random) {
  const Linear linear = linear_params(params, any_depth);
  const std::vector<HostTensor> inputs = random_inputs(linear, random);
  const Expected y = q4gsw_answer(params, inputs);
  ASSERT_EQ(y.values.shape(), linear.y_shape());
  EXPECT_EQ(y.bound.empty(), linear.real == DType::F32);
  for (std::int64_t i = 0; i < y.values.numel(); ++i) {
    const PlainQ4 plain(linear, inputs, i);
    const auto magnitude = static_cast<double>(y.magnitude[static_cast<std::size_t>(i)]);
    ASSERT_NEAR(y.values.at(i), plain.value, plain.magnitude * 1e-13)
        << params.canonical() << " element " << i;
    ASSERT_GE(magnitude, plain.magnitude * (1 - 1e-12)) << params.canonical() << " element " << i;
    ASSERT_LE(magnitude, plain.magnitude * (1 + 0x1p-14)) << params.canonical() << " element " << i;
  }
}

TEST(LinearQ4gsw, AgreesWithThePlainFormula) {
  std::mt19937 random(41);
  for (const std::int64_t group_size : {8, 96, 192}) {
    for (const std::string dtype : {"f32", "f16"}) {
      Params params = linear_case(5, 192, 33, group_size);
      params.set("dtype", dtype);
      expect_plain_q4gsw(params, random);
      params.set("bias", true);
      params.set("batch", Shape{2});
      expect_plain_q4gsw(params, random);
      params.set("activation", std::string("relu"));
      expect_plain_q4gsw(params, random);
    }
  }
  expect_plain_q4gsw(linear_case(1, 512, 3, 256), random);  // each group is a chunk
  expect_plain_q4gsw(linear_case(3, 480, 2, 96), random);   // some groups lie in two chunks
}

TEST(LinearQ4gsw, TakesTheLowNibbleOfAByteFirst) {
  const Params params = linear_case(1, 8, 1, 8);
  const std::vector<HostTensor> inputs{floats({1, 8}, {1, 10, 0, 0, 0, 0, 0, 0}),
                                       uint8s({1, 4}, {0x2F, 0, 0, 0}), floats({1, 1}, {0.5F})};
  EXPECT_EQ(q4gsw_answer(params, inputs).values.at(0), (7 + 10 * -6) * 0.5);
}

TEST(LinearQ4gsw, NaNGivesNaN) {
  const Params params = linear_case(2, 8, 1, 8);
  HostTensor x(DType::F32, {2, 8});
  x.as<float>()[3] = std::nanf("");
  const Expected y = q4gsw_answer(params, {x, uint8s({1, 4}, {1, 2, 3, 4}), floats({1, 1}, {0.5F})});
  EXPECT_TRUE(std::isnan(y.values.at(0)));
  EXPECT_EQ(y.magnitude[0], 0);
  EXPECT_EQ(y.values.at(1), 0);
}

TEST(LinearQ4gsw, GivesTheGoldenVectors) {
  const std::vector<Golden> vectors = golden_vectors("linear_q4gsw");
  EXPECT_EQ(vectors.size(), 9U);
  for (const Golden& golden : vectors) {
    const Expected y =
        q4gsw_answer(linear_case(golden), golden_inputs(golden, {"x", "w", "w_scale", "bias"}));
    EXPECT_TRUE(near(y.values, golden.tensor("y"), y.magnitude, 1e-6)) << golden.name;
  }
}

}  // namespace

}  // namespace assay::references
