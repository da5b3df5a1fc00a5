#include "references/transformer/silu_mul.h"

#include "references/transformer/golden_reals_test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace assay::references {
namespace {

using namespace test;

constexpr double infinity = std::numeric_limits<double>::infinity();
const double nan = std::nan("");

/// The answer for one element of float32.
Expected silu_of(double g, double u) {
  Params params;
  params.set("shape", Shape{1});
  params.set("dtype", std::string("f32"));
  const std::vector<HostTensor> inputs{real_tensor(DType::F32, {1}, {g}), real_tensor(DType::F32, {1}, {u})};
  return silu_mul(params, inputs)[0];
}

TEST(SiluMul, GivesTheGoldenVectors) {
  expect_golden_reals("silu_mul", 6, {"g", "u"}, {"y"}, {}, silu_mul);
}

TEST(SiluMul, IsHalfOfASmallGateAndAllOfALargeOne) {
  EXPECT_DOUBLE_EQ(silu_of(1, 1).values.at(0), 1 / (1 + std::exp(-1.0)));
  EXPECT_DOUBLE_EQ(silu_of(0x1p-60, 3).values.at(0), 1.5 * 0x1p-60);
  EXPECT_DOUBLE_EQ(silu_of(1000, -2).values.at(0), -2000);
  EXPECT_EQ(silu_of(infinity, -2).values.at(0), -infinity);
}

TEST(SiluMul, TheMagnitudeGrowsWithTheGate) {
  const Expected y = silu_of(-10, 4);
  EXPECT_FLOAT_EQ(y.magnitude[0], static_cast<float>(std::fabs(y.values.at(0)) * 6));
  EXPECT_FLOAT_EQ(y.bound[0], 41 * 0x1p-126F) << "what overflows, and what is flushed";
}

TEST(SiluMul, WhatMayBeFlushedIsWithinTheBound) {
  for (const auto& [g, u] :
       {std::pair(0x1p-130, 0x1p40), std::pair(3.0, 0x1p-130), std::pair(-88.0, 0x1p40)}) {
    const Expected y = silu_of(g, u);
    EXPECT_GE(static_cast<double>(y.bound[0]), std::fabs(y.values.at(0))) << g << " " << u;
  }
  EXPECT_LT(silu_of(0x1p-120, 0x1p40).bound[0], 0x1p-82F) << "it is not flushed";
}

TEST(SiluMul, NanGivesNan) {
  for (const auto& [g, u] : {std::pair(nan, 1.0), std::pair(1.0, nan), std::pair(-infinity, nan),
                             std::pair(0.0, infinity), std::pair(infinity, 0.0)}) {
    EXPECT_TRUE(std::isnan(silu_of(g, u).values.at(0))) << g << " " << u;
  }
}

TEST(SiluMul, AGateOfMinusInfinityGivesZeroOrNan) {
  const Expected y = silu_of(-infinity, 7);
  EXPECT_EQ(y.values.at(0), 0);
  EXPECT_EQ(y.bound[0], std::numeric_limits<float>::infinity());
}

TEST(SiluMul, AVanishingGateTimesInfinityIsInfinityOrNan) {
  const Expected y = silu_of(-100, infinity);
  EXPECT_EQ(y.values.at(0), -infinity);
  EXPECT_EQ(y.bound[0], std::numeric_limits<float>::infinity());
  EXPECT_EQ(silu_of(-1, infinity).bound[0], 0) << "this gate does not vanish";
}

}  // namespace
}  // namespace assay::references
