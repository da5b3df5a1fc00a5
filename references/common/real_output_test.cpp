#include "references/common/real_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

namespace assay::references {
namespace {

TEST(ExactFloat, ANumberIsAFloat32WhereItsBitsFit) {
  EXPECT_TRUE(is_float32(0.5));
  EXPECT_TRUE(is_float32(16777216));
  EXPECT_FALSE(is_float32(16777217));
  EXPECT_FALSE(is_float32(0.1));
}

TEST(ExactFloat, TheLowestBitIsThatOfTheOddMultiple) {
  EXPECT_EQ(lowest_bit(1.0), 1.0);
  EXPECT_EQ(lowest_bit(12.0), 4.0);
  EXPECT_EQ(lowest_bit(-0.75), 0.25);
  EXPECT_EQ(lowest_bit(static_cast<double>(0.1F)), 0x1p-27);
}

TEST(ExactFloat, MultiplesOfTheUnitUpTo2To24TimesItAreFloat32Values) {
  for (const double scale : {0.625, static_cast<double>(0.0123F), 3.0}) {
    const double unit = lowest_bit(scale);
    const auto most = static_cast<std::int64_t>(unit * 0x1p24 / scale);
    EXPECT_TRUE(is_float32(scale * static_cast<double>(most))) << scale;
    EXPECT_TRUE(is_float32(unit * 0x1p24)) << scale;
    EXPECT_FALSE(is_float32(unit * (0x1p24 + 1))) << scale;
  }
}

TEST(UlpOf, IsTheSpacingOfFloat16AndZeroWhereThereIsNone) {
  EXPECT_EQ(ulp_of(to_half(1.0f)), 0x1p-10f);
  EXPECT_EQ(ulp_of(to_half(-1.999f)), 0x1p-10f);
  EXPECT_EQ(ulp_of(to_half(2.0f)), 0x1p-9f);
  EXPECT_EQ(ulp_of(to_half(0.0f)), 0x1p-24f);
  EXPECT_EQ(ulp_of(to_half(0x1p-20f)), 0x1p-24f);
  EXPECT_EQ(ulp_of(to_half(65504.0f)), 32.0f);
  EXPECT_EQ(ulp_of(to_half(INFINITY)), 0.0f);
}

constexpr double infinity = std::numeric_limits<double>::infinity();

Expected of_one(DType dtype, double value, double magnitude) {
  BoundedOutput output(dtype, {1});
  output.set(0, value, magnitude);
  return output.take();
}

TEST(BoundedOutput, HoldsFloat64) {
  const Expected f32 = of_one(DType::F32, 1.0 / 3, 0.5);
  EXPECT_EQ(f32.values.dtype(), DType::F64);
  EXPECT_EQ(f32.values.at(0), 1.0 / 3);
  EXPECT_THAT(f32.magnitude, testing::ElementsAre(0.5F));
  EXPECT_TRUE(f32.bound.empty());
  EXPECT_EQ(of_one(DType::F16, 1.0 / 3, 0.5).values.at(0), 1.0 / 3);
}

TEST(BoundedOutput, IsBoundedByAUlpOfFloat16) {
  EXPECT_THAT(of_one(DType::F16, 1.0 / 3, 0.5).bound, testing::ElementsAre(0x1p-12F));
  EXPECT_THAT(of_one(DType::F16, 1000, 0.5).bound, testing::ElementsAre(0.5F));
}

TEST(BoundedOutput, AValueOutOfRangeIsTheInfinityOfItsType) {
  EXPECT_EQ(of_one(DType::F32, 1e39, 1e39).values.at(0), infinity);
  EXPECT_EQ(of_one(DType::F32, 7e4, 1).values.at(0), 7e4);
  EXPECT_EQ(of_one(DType::F16, -7e4, 1).values.at(0), -infinity);
}

TEST(BoundedOutput, WhatIsNotFiniteHasNoMagnitudeSoThatNothingElseIsAccepted) {
  const double nan = std::nan("");
  EXPECT_EQ(of_one(DType::F32, infinity, infinity).magnitude[0], 0);
  EXPECT_EQ(of_one(DType::F32, nan, nan).magnitude[0], 0);
  EXPECT_TRUE(std::isnan(of_one(DType::F32, nan, nan).values.at(0)));
  const Expected half = of_one(DType::F16, nan, nan);
  EXPECT_EQ(half.magnitude[0], 0);
  EXPECT_EQ(half.bound[0], 0);
}

TEST(BoundedOutput, MagnitudesAreRoundedUpAndStayFiniteAndAboveZero) {
  for (const double exact : {0.7, 2.0 / 3}) {  // the nearest floats lie below and above
    const float magnitude = of_one(DType::F32, 0, exact).magnitude[0];
    EXPECT_GE(static_cast<double>(magnitude), exact);
    EXPECT_LT(static_cast<double>(std::nextafter(magnitude, 0.0F)), exact);
  }
  EXPECT_EQ(of_one(DType::F32, 0, 1e300).magnitude[0], std::numeric_limits<float>::max());
  EXPECT_EQ(of_one(DType::F32, 0, infinity).magnitude[0], std::numeric_limits<float>::max());
  EXPECT_EQ(of_one(DType::F32, 0, 0).magnitude[0], 0x1p-90F);
}

Expected with_absolute(DType dtype, double value, double magnitude, double absolute) {
  BoundedOutput output(dtype, {1}, BoundedOutput::Flushed::Absolute);
  output.set(0, value, magnitude, absolute);
  return output.take();
}

TEST(BoundedOutput, WhatIsFlushedIsPartOfAnAbsoluteBound) {
  EXPECT_THAT(with_absolute(DType::F32, 1, 0, 0).bound, testing::ElementsAre(0x1p-126F));
  EXPECT_THAT(with_absolute(DType::F32, 1, 0, 0).magnitude, testing::ElementsAre(0.0F));
  EXPECT_THAT(with_absolute(DType::F32, 1, 0, 0x1p-126).bound, testing::ElementsAre(0x1p-125F));
  EXPECT_THAT(with_absolute(DType::F16, 1, 0, 0x1p-12).bound, testing::ElementsAre(0x1.4p-10F));
  EXPECT_THAT(with_absolute(DType::F32, 1, 0, 1e300).bound,
              testing::ElementsAre(std::numeric_limits<float>::max()));
}

TEST(BoundedOutput, AnInfiniteBoundIsKeptAndOthersAreZeroWhereTheValueIsInfinite) {
  constexpr float unbounded = std::numeric_limits<float>::infinity();
  EXPECT_EQ(with_absolute(DType::F32, 0, 0, infinity).bound[0], unbounded);
  EXPECT_EQ(with_absolute(DType::F16, -infinity, 0, infinity).bound[0], unbounded);
  EXPECT_EQ(with_absolute(DType::F32, infinity, 1, 1).bound[0], 0);
  EXPECT_EQ(with_absolute(DType::F16, 7e4, 1, 1).bound[0], 0);
}

TEST(BoundedOutput, AnExactElementHasNeitherBoundNorMagnitude) {
  for (const DType dtype : {DType::F32, DType::F16}) {
    BoundedOutput output(dtype, {1}, BoundedOutput::Flushed::Absolute);
    output.set_exact(0, 0.5);
    const Expected y = output.take();
    EXPECT_EQ(y.values.at(0), 0.5);
    EXPECT_EQ(y.bound[0], 0);
    EXPECT_EQ(y.magnitude[0], 0);
  }
}

}  // namespace

}  // namespace assay::references
