#include "references/exact_float.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace assay::references {
namespace {

bool are_exact(const std::vector<std::int32_t>& integers, double scale) {
  ExactTerms terms;
  for (const std::int32_t integer : integers) terms.add(integer, integer * scale);
  return terms.are_exact();
}

TEST(IsFloat32, SaysWhetherAFloatHoldsTheValue) {
  EXPECT_TRUE(is_float32(0.5));
  EXPECT_TRUE(is_float32(-0x1.fffffep127));
  EXPECT_FALSE(is_float32(0.1));
  EXPECT_FALSE(is_float32(16777217));
}

TEST(ExactTerms, AreThoseOfAPowerOfTwoOrAShortScale) {
  EXPECT_TRUE(are_exact({}, 0.1));
  EXPECT_TRUE(are_exact({0, 0}, 0.1));
  EXPECT_TRUE(are_exact({1000, -999, 3}, 0.25));
  EXPECT_TRUE(are_exact({1000, -999, 3}, 0.625));
  EXPECT_FALSE(are_exact({1000, -999, 3}, static_cast<double>(0.1F)));
}

TEST(ExactTerms, AreNotThoseWhoseIntegersOrSumsNeedMoreThan24Bits) {
  EXPECT_TRUE(are_exact({1 << 24}, 1));
  EXPECT_FALSE(are_exact({(1 << 24) + 1}, 1));
  EXPECT_FALSE(are_exact({1 << 24, 1}, 1));
  EXPECT_FALSE(are_exact({1 << 24, 1, -(1 << 24)}, 1));  // not in that order
  EXPECT_TRUE(are_exact({1 << 24, 1 << 24}, 1));         // all are multiples of 2^24
}

/// Whether float32 additions in this order give what float64 ones do.
bool adds_exactly(const std::vector<std::int32_t>& integers, float scale) {
  float sum = 0;
  double real = 0;
  for (const std::int32_t integer : integers) {
    const float term = static_cast<float>(integer) * scale;
    sum += term;
    real += static_cast<double>(scale) * integer;
    if (static_cast<double>(sum) != real) return false;
  }
  return true;
}

TEST(ExactTerms, AreAddedWithoutRoundingInWhateverOrder) {
  std::mt19937 random(41);
  int exact = 0, inexact = 0;
  for (int trial = 0; trial < 500; ++trial) {
    std::uniform_int_distribution<std::int32_t> value(-(1 << 20), 1 << 20);
    std::vector<std::int32_t> integers(6);
    for (std::int32_t& integer : integers) integer = value(random) >> random() % 16;
    const float scale = static_cast<float>(1 + random() % 7) * 0.125F;
    const bool claimed = are_exact(integers, static_cast<double>(scale));
    ++(claimed ? exact : inexact);
    for (int order = 0; claimed && order < 20; ++order) {
      std::shuffle(integers.begin(), integers.end(), random);
      ASSERT_TRUE(adds_exactly(integers, scale)) << trial;
    }
  }
  EXPECT_GT(exact, 50);
}

}  // namespace
}  // namespace assay::references
