#include "references/common/exact_float.h"

#include <gtest/gtest.h>

#include <cstdint>

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

}  // namespace
}  // namespace assay::references
