#include "references/common/real_output.h"

#include <gtest/gtest.h>

#include <cmath>

namespace assay::references {
namespace {

TEST(UlpOf, IsTheSpacingOfFloat16AndZeroWhereThereIsNone) {
  EXPECT_EQ(ulp_of(to_half(1.0f)), 0x1p-10f);
  EXPECT_EQ(ulp_of(to_half(-1.999f)), 0x1p-10f);
  EXPECT_EQ(ulp_of(to_half(2.0f)), 0x1p-9f);
  EXPECT_EQ(ulp_of(to_half(0.0f)), 0x1p-24f);
  EXPECT_EQ(ulp_of(to_half(0x1p-20f)), 0x1p-24f);
  EXPECT_EQ(ulp_of(to_half(65504.0f)), 32.0f);
  EXPECT_EQ(ulp_of(to_half(INFINITY)), 0.0f);
}

}  // namespace
}  // namespace assay::references
