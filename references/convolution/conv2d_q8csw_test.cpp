#include "references/convolution/conv2d_q8csw.h"

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

}  // namespace
}  // namespace assay::references
