#include "references/transformer/norms.h"

#include "references/transformer/golden_reals_test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace assay::references {
namespace {

using namespace test;
using testing::DoubleNear;
using testing::ElementsAre;

Params norm_of(const Shape& shape, DType dtype, double eps, bool residual = false) {
  Params params;
  params.set("shape", shape);
  params.set("dtype", std::string(name_of(dtype)));
  params.set("eps", eps);
  params.set("residual", residual);
  return params;
}

TEST(RmsNorm, GivesTheGoldenVectors) {
  Params defaults;
  defaults.set("residual", false);
  expect_golden_reals("rms_norm", 18, {"x", "w", "residual"}, {"y", "h"}, defaults, rms_norm);
}

TEST(RmsNorm, DividesByTheRootOfTheMeanOfSquares) {
  const std::vector<HostTensor> inputs{real_tensor(DType::F32, {2, 2}, {3, 4, 0, 0}),
                                       real_tensor(DType::F32, {2}, {1, 10})};
  const Expected y = rms_norm(norm_of({2, 2}, DType::F32, 0.5), inputs)[0];
  const double root = std::sqrt(13.0);
  EXPECT_THAT(y.values.as<double>(),
              ElementsAre(DoubleNear(3 / root, 1e-15), DoubleNear(40 / root, 1e-14), 0, 0));
  EXPECT_FLOAT_EQ(y.magnitude[1], static_cast<float>(40 / root));
  EXPECT_FLOAT_EQ(y.bound[1], static_cast<float>(0x1p-126 + 0x1p-124 * (1 + 1 / root) * 10));
}

TEST(RmsNorm, ANanIsInItsWholeRowAndNoOther) {
  const std::vector<HostTensor> inputs{real_tensor(DType::F32, {2, 2}, {1, std::nan(""), 1, 1}),
                                       real_tensor(DType::F32, {2}, {1, 1})};
  const Expected y = rms_norm(norm_of({2, 2}, DType::F32, 1e-5), inputs)[0];
  EXPECT_TRUE(std::isnan(y.values.at(0)));
  EXPECT_TRUE(std::isnan(y.values.at(1)));
  EXPECT_NEAR(y.values.at(3), 1, 1e-4);
}

TEST(RmsNorm, AResidualIsAddedAndRoundedBefore) {
  const double small = 0x1p-12;  // lost next to 1 in float16
  const std::vector<HostTensor> inputs{real_tensor(DType::F16, {1, 2}, {1, 2}),
                                       real_tensor(DType::F16, {2}, {1, 1}),
                                       real_tensor(DType::F16, {1, 2}, {small, -1})};
  const std::vector<Expected> outputs = rms_norm(norm_of({1, 2}, DType::F16, 1e-5, true), inputs);
  ASSERT_EQ(outputs.size(), 2U);
  EXPECT_THAT(outputs[1].values.as<double>(), ElementsAre(1, 1));
  EXPECT_EQ(outputs[1].bound[0], 0x1p-10F);
  EXPECT_EQ(outputs[1].magnitude[0], 0);
  const double y = 1 / std::sqrt(1 + 1e-5);
  EXPECT_THAT(outputs[0].values.as<double>(), ElementsAre(DoubleNear(y, 1e-15), DoubleNear(y, 1e-15)));
  EXPECT_FLOAT_EQ(outputs[0].bound[0], static_cast<float>(0x1p-10 + y * 0x1p-10));
}

TEST(LayerNorm, GivesTheGoldenVectors) {
  expect_golden_reals("layer_norm", 12, {"x", "w", "b"}, {"y"}, {}, layer_norm);
}

TEST(LayerNorm, SubtractsTheMeanAndDividesByTheDeviation) {
  const std::vector<HostTensor> inputs{real_tensor(DType::F32, {1, 2}, {5, 1}),
                                       real_tensor(DType::F32, {2}, {1, -3}),
                                       real_tensor(DType::F32, {2}, {0, 7})};
  const Expected y = layer_norm(norm_of({1, 2}, DType::F32, 0.25), inputs)[0];
  const double root = std::sqrt(4.25);
  EXPECT_THAT(y.values.as<double>(),
              ElementsAre(DoubleNear(2 / root, 1e-15), DoubleNear(6 / root + 7, 1e-14)));
  EXPECT_FLOAT_EQ(y.magnitude[1],
                  static_cast<float>(3 * (1 + 3) / root + 3 * 2 * (5 + 3) / (root * root) + 7));
}

TEST(LayerNorm, ANanIsInItsWholeRow) {
  const std::vector<HostTensor> inputs{real_tensor(DType::F32, {1, 3}, {5, std::nan(""), 1}),
                                       real_tensor(DType::F32, {3}, {1, 1, 1}),
                                       real_tensor(DType::F32, {3}, {0, 0, 0})};
  const Expected y = layer_norm(norm_of({1, 3}, DType::F32, 0.25), inputs)[0];
  EXPECT_THAT(y.values.as<double>(), testing::Each(testing::IsNan()));
}

}  // namespace
}  // namespace assay::references
