#include "harness/tensor/shape.h"

#include "harness/base/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr std::int64_t most = std::int64_t{1} << 40;

TEST(ShapeTest, NumelIsTheProductOfTheDims) {
  EXPECT_EQ(numel({7}), 7);
  EXPECT_EQ(numel({1, 96, 16, 9}), 13824);
  EXPECT_EQ(numel({most}), most);
  EXPECT_EQ(numel({1 << 20, 1 << 20}), most);
}

TEST(ShapeTest, NumelRefusesDimsBelowOne) {
  EXPECT_THAT([] { numel({2, 0, 3}); }, ThrowsMessage<Error>(HasSubstr("2x0x3 has a dim of 0")));
  EXPECT_THAT([] { numel({-4}); }, ThrowsMessage<Error>(HasSubstr("has a dim of -4")));
}

TEST(ShapeTest, NumelRefusesProductsBeyondTheLimitWithoutOverflow) {
  const std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  EXPECT_THAT([] { numel({most, 2}); }, ThrowsMessage<Error>(HasSubstr("more than 2^40 elements")));
  EXPECT_THROW(numel({huge}), Error);
  EXPECT_THROW(numel({huge, huge}), Error);
  // The product is 2^64, which wraps to 0.
  EXPECT_THROW(numel({1LL << 32, 1LL << 32}), Error);
}

TEST(ShapeTest, LowerRanksAreUnsqueezedOnTheLeft) {
  EXPECT_EQ(nchw({5}), (Dims{1, 1, 1, 5}));
  EXPECT_EQ(nchw({4, 5}), (Dims{1, 1, 4, 5}));
  EXPECT_EQ(nchw({3, 4, 5}), (Dims{1, 3, 4, 5}));
  EXPECT_EQ(nchw({2, 3, 4, 5}), (Dims{2, 3, 4, 5}));
}

TEST(ShapeTest, FiveDimsAreRefusedWithTheirNumber) {
  EXPECT_THAT([] { nchw({1, 2, 3, 4, 5}); }, ThrowsMessage<Error>(HasSubstr("has 5 dims; at most 4")));
}

TEST(ShapeTest, ShapesArePrintedWithCrosses) {
  EXPECT_EQ(to_string(Shape{1, 96, 16, 9}), "1x96x16x9");
  EXPECT_EQ(to_string(Shape{12}), "12");
  EXPECT_EQ(to_string(Shape{}), "");
}

TEST(ShapeTest, CoordinatesAreThoseOfRowMajorOrder) {
  const Shape shape{2, 3, 4};
  std::int64_t index = 0;
  for (std::int64_t i = 0; i < 2; ++i) {
    for (std::int64_t j = 0; j < 3; ++j) {
      for (std::int64_t k = 0; k < 4; ++k) EXPECT_THAT(coordinates(shape, index++), ElementsAre(i, j, k));
    }
  }
}

TEST(ShapeTest, DivisionsRoundUp) {
  EXPECT_EQ(div_up(8, 4), 2);
  EXPECT_EQ(div_up(9, 4), 3);
  EXPECT_EQ(round_up(9, 4), 12);
  EXPECT_EQ(round_up(0, 4), 0);
}

}  // namespace
}  // namespace assay
