#include "references/transformer/softmax.h"

#include "references/transformer/golden_reals_test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace assay::references {
namespace {

using namespace test;

/// The answer for one row of float32.
Expected softmax_of(const std::vector<double>& row) {
  const Shape shape{static_cast<std::int64_t>(row.size())};
  Params params;
  params.set("shape", shape);
  params.set("dtype", std::string("f32"));
  const std::vector<HostTensor> inputs{real_tensor(DType::F32, shape, row)};
  return softmax(params, inputs)[0];
}

std::vector<double> values_of(const Expected& expected) {
  const std::span<const double> values = expected.values.as<double>();
  return {values.begin(), values.end()};
}

TEST(Softmax, GivesTheGoldenVectors) {
  expect_golden_reals("softmax", 12, {"x"}, {"y"}, {}, softmax);
}

TEST(Softmax, SharesOfARowAddUpToOneAndAreStable) {
  const std::vector<double> y = values_of(softmax_of({3e38, -3e38, 3e38, 0}));
  EXPECT_THAT(y, testing::ElementsAre(0.5, 0, 0.5, 0));
  const std::vector<double> shifted = values_of(softmax_of({150, 151}));
  EXPECT_DOUBLE_EQ(shifted[0], 1 / (1 + std::exp(1.0)));
}

TEST(Softmax, MinusInfinityGivesZeroAndARowOfItZeros) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  EXPECT_THAT(values_of(softmax_of({-infinity, 2, -infinity, 2})), testing::ElementsAre(0, 0.5, 0, 0.5));
  EXPECT_THAT(values_of(softmax_of({-infinity, -infinity})), testing::ElementsAre(0, 0));
}

TEST(Softmax, NanOrInfinityGivesARowOfNan) {
  for (const double value : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_THAT(values_of(softmax_of({1, value, -5})), testing::Each(testing::IsNan()));
  }
}

TEST(Softmax, TheMagnitudeGrowsWithTheDistancesFromTheLargest) {
  const Expected y = softmax_of({0, std::log(3.0)});  // shares of 1/4 and 3/4
  EXPECT_NEAR(y.magnitude[1], 0.75 * (1 + 0.25 * std::log(3.0)), 1e-6);
  EXPECT_NEAR(y.magnitude[0], 0.25 * (1 + 1.25 * std::log(3.0)), 1e-6);
  EXPECT_EQ(y.bound[0], 0x1p-126F);
  EXPECT_EQ(softmax_of({0, -3e38}).magnitude[1], 0) << "a share of 0 has no relative error";
}

}  // namespace
}  // namespace assay::references
