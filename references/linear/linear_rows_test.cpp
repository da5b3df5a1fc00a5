#include "references/linear/linear_rows.h"

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

constexpr float inf = std::numeric_limits<float>::infinity();

IntegerRows one_scale_rows(const HostTensor& x, QParams qparams) {
  return quantized_rows(x, [=](std::int64_t) { return qparams; });
}

TEST(Int8Rows, AreLessTheirZeroPoint) {
  const HostTensor x = int8s({1, 2, 2}, {-128, 127, 5, 0});
  EXPECT_THAT(int8_rows(x).values, ElementsAre(-128, 127, 5, 0));
  EXPECT_THAT(int8_rows(x, 127).values, ElementsAre(-255, 0, -122, -127));
  EXPECT_THAT(int8_rows(x, -128).values, ElementsAre(0, 255, 133, 128));
  EXPECT_THAT(int8_rows(x, std::vector<std::int32_t>{1, -2}).values, ElementsAre(-129, 126, 7, 2));
}

TEST(QuantizedRows, RoundTiesToEvenAndSaturate) {
  const HostTensor x = floats({1, 6}, {0.25F, 0.75F, -0.25F, -0.75F, 100, -100});
  EXPECT_THAT(one_scale_rows(x, {0.5F, 0}).values, ElementsAre(0, 2, 0, -2, 127, -128));
  EXPECT_THAT(one_scale_rows(x, {0.5F, 3}).values, ElementsAre(0, 2, 0, -2, 124, -131));
}

TEST(QuantizedRows, TakeNaNForZeroAndInfinitiesForTheEnds) {
  const HostTensor x = floats({1, 3}, {std::nanf(""), inf, -inf});
  for (const std::int32_t zero_point : {-128, 0, 127}) {
    EXPECT_THAT(one_scale_rows(x, {0.5F, zero_point}).values,
                ElementsAre(0, 127 - zero_point, -128 - zero_point));
  }
}

TEST(QuantizedRows, MultiplyByTheReciprocal) {
  const float scale = 0.3F, inverse = 1.0F / scale;
  int differing = 0;
  for (int i = 1; i < 254; ++i) {
    const float x = static_cast<float>(i) * 0.5F * scale;  // next to ties
    const auto by_product = static_cast<int>(std::nearbyint(x * inverse));
    differing += by_product != static_cast<int>(std::nearbyint(x / scale)) ? 1 : 0;
    ASSERT_EQ(one_scale_rows(floats({1, 1}, {x}), {scale, 0}).values[0], by_product) << x;
  }
  EXPECT_GT(differing, 0);
}

TEST(QuantizedRows, HaveScalesOfTheirOwnAndReadHalves) {
  const HostTensor x = halves({2, 1, 2}, {1, 2, 1, 2});
  const std::vector<QParams> qparams{{1, 0}, {0.25F, 120}};
  const IntegerRows rows =
      quantized_rows(x, [&](std::int64_t row) { return qparams[static_cast<std::size_t>(row)]; });
  EXPECT_EQ(rows.rows, 2);
  EXPECT_THAT(rows.values, ElementsAre(1, 2, 4, 7));
}

TEST(Int4Rows, TakeTheNibbleOfAnEvenKFromTheHalfThatIsSaid) {
  const HostTensor w = uint8s({2, 2}, {0xF0, 0x9A, 0x08, 0x78});
  EXPECT_THAT(int4_rows(w, EvenNibble::High).values, ElementsAre(7, -8, 1, 2, -8, 0, -1, 0));
  EXPECT_THAT(int4_rows(w, EvenNibble::Low).values, ElementsAre(-8, 7, 2, 1, 0, -8, 0, -1));
}

TEST(Int4Rows, AreLessTheZeroPointOfTheirGroup) {
  const HostTensor w = int4s({2, 4}, {0, 1, 2, 3, -8, 7, -8, 7}, true);
  const HostTensor zero_points = int32s({2, 2}, {1, 7, -8, -8});  // [group, n]
  EXPECT_THAT(int4_rows(w, EvenNibble::High, zero_points).values, ElementsAre(-1, 0, 10, 11, -15, 0, 0, 15));
}

}  // namespace
}  // namespace assay::references
