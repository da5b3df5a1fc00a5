#include "harness/tensor/dtype.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace assay {
namespace {

constexpr DType all_dtypes[] = {DType::F32, DType::F16, DType::I32, DType::I16,
                                DType::I8,  DType::U8,  DType::F64, DType::I64};

float half(std::uint32_t bits) {
  return to_float(Half{static_cast<std::uint16_t>(bits)});
}

TEST(DTypeTest, NamesParseBackToTheirDType) {
  for (const DType dtype : all_dtypes) EXPECT_EQ(parse_dtype(name_of(dtype)), dtype);
  EXPECT_EQ(name_of(DType::F32), "f32");
  EXPECT_EQ(name_of(DType::U8), "u8");
  EXPECT_EQ(parse_dtype("float"), std::nullopt);
  EXPECT_EQ(parse_dtype(""), std::nullopt);
}

TEST(DTypeTest, SizesAreThoseOfTheElementTypes) {
  EXPECT_EQ(size_of(DTypeOf<float>::value), sizeof(float));
  EXPECT_EQ(size_of(DTypeOf<Half>::value), sizeof(Half));
  EXPECT_EQ(size_of(DTypeOf<std::int32_t>::value), 4U);
  EXPECT_EQ(size_of(DTypeOf<std::int16_t>::value), 2U);
  EXPECT_EQ(size_of(DTypeOf<std::int8_t>::value), 1U);
  EXPECT_EQ(size_of(DTypeOf<std::uint8_t>::value), 1U);
  EXPECT_EQ(size_of(DTypeOf<double>::value), 8U);
  EXPECT_EQ(size_of(DTypeOf<std::int64_t>::value), 8U);
}

TEST(DTypeTest, EveryDTypeIsEitherFloatOrInteger) {
  for (const DType dtype : all_dtypes) EXPECT_NE(is_float(dtype), is_integer(dtype));
  EXPECT_TRUE(is_float(DType::F16));
  EXPECT_TRUE(is_integer(DType::U8));
}

TEST(DTypeTest, IntegerRangesAreTheTypesOwn) {
  EXPECT_EQ(lowest(DType::I8), -128);
  EXPECT_EQ(highest(DType::I8), 127);
  EXPECT_EQ(lowest(DType::U8), 0);
  EXPECT_EQ(highest(DType::U8), 255);
  EXPECT_EQ(lowest(DType::I16), -32768);
  EXPECT_EQ(highest(DType::I16), 32767);
  EXPECT_EQ(lowest(DType::I32), std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(highest(DType::I32), std::numeric_limits<std::int32_t>::max());
  EXPECT_EQ(lowest(DType::I64), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(highest(DType::I64), std::numeric_limits<std::int64_t>::max());
}

TEST(DTypeTest, AFloatHasNoIntegerRange) {
  EXPECT_THROW(lowest(DType::F32), std::logic_error);
  EXPECT_THROW(highest(DType::F16), std::logic_error);
}

TEST(HalfTest, KnownHalvesHaveTheirValues) {
  EXPECT_EQ(half(0x3c00), 1.0F);
  EXPECT_EQ(half(0xc000), -2.0F);
  EXPECT_EQ(half(0x3555), 0.333251953125F);
  EXPECT_EQ(half(0x7bff), 65504.0F);
  EXPECT_EQ(half(0x0001), 0x1p-24F);
  EXPECT_EQ(half(0x03ff), 0x1p-14F - 0x1p-24F);
  EXPECT_EQ(half(0x0400), 0x1p-14F);
  EXPECT_EQ(half(0x7c00), std::numeric_limits<float>::infinity());
  EXPECT_EQ(half(0xfc00), -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(half(0x7e00)));
  EXPECT_TRUE(std::signbit(half(0x8000)));
}

TEST(HalfTest, EveryHalfComesBackFromFloat) {
  for (std::uint32_t bits = 0; bits <= 0xffffU; ++bits) {
    const float value = half(bits);
    const bool is_nan = (bits & 0x7fffU) > 0x7c00U;
    ASSERT_EQ(std::isnan(value), is_nan) << bits;
    // A signalling NaN becomes quiet.
    ASSERT_EQ(to_half(value).bits, is_nan ? bits | 0x200U : bits) << bits;
  }
}

TEST(HalfTest, ValuesBetweenTwoHalvesGoToTheNearerAndTiesToTheEvenOne) {
  for (std::uint32_t bits = 0; bits < 0x7bffU; ++bits) {
    const float low = half(bits), high = half(bits + 1);
    const float tie = low + (high - low) / 2;  // exact in float
    const std::uint32_t even = (bits & 1U) == 0 ? bits : bits + 1;
    ASSERT_EQ(to_half(tie).bits, even);
    ASSERT_EQ(to_half(-tie).bits, even | 0x8000U);
    ASSERT_EQ(to_half(std::nextafter(tie, 0.0F)).bits, bits);
    ASSERT_EQ(to_half(std::nextafter(tie, high)).bits, bits + 1);
  }
}

TEST(HalfTest, ValuesBeyondTheLargestOverflowFromTheTieOn) {
  EXPECT_EQ(to_half(std::nextafter(65520.0F, 0.0F)).bits, 0x7bff);
  EXPECT_EQ(to_half(65520.0F).bits, 0x7c00);
  EXPECT_EQ(to_half(-65520.0F).bits, 0xfc00);
  EXPECT_EQ(to_half(65536.0F).bits, 0x7c00);
  EXPECT_EQ(to_half(std::numeric_limits<float>::max()).bits, 0x7c00);
  EXPECT_EQ(to_half(std::numeric_limits<float>::infinity()).bits, 0x7c00);
}

TEST(HalfTest, ValuesBelowHalfTheSmallestDenormalBecomeZeroOfTheirSign) {
  EXPECT_EQ(to_half(0x1p-25F).bits, 0);
  EXPECT_EQ(to_half(-0x1p-25F).bits, 0x8000);
  EXPECT_EQ(to_half(std::nextafter(0x1p-25F, 1.0F)).bits, 1);
  EXPECT_EQ(to_half(std::numeric_limits<float>::denorm_min()).bits, 0);
}

TEST(HalfTest, ANaNWithALowPayloadStaysNaN) {
  EXPECT_TRUE(std::isnan(to_float(to_half(std::bit_cast<float>(0x7f800001U)))));
  EXPECT_TRUE(std::isnan(to_float(to_half(std::bit_cast<float>(0xffc00000U)))));
}

}  // namespace
}  // namespace assay
