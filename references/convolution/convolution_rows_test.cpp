#include "references/convolution/convolution_rows.h"

#include "references/convolution/convolution_test_support.h"
#include "references/linear/linear_test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace assay::references {
namespace {

using namespace test;

using testing::ElementsAre;
using testing::ElementsAreArray;

/// The values 1, 2, 3 and so on.
std::vector<std::int16_t> counted(std::size_t count) {
  std::vector<std::int16_t> values(count);
  std::iota(values.begin(), values.end(), std::int16_t{1});
  return values;
}

std::vector<int> row_of(const Convolution& conv, std::int64_t group, std::int64_t pixel, std::int64_t first,
                        std::int64_t last) {
  const auto x = channels_last(conv, counted(static_cast<std::size_t>(numel(conv.x_shape()))));
  std::vector<std::int16_t> values(static_cast<std::size_t>(last - first), -1);
  Patches(conv).read(x, group, pixel, first, last, values.data());
  return {values.begin(), values.end()};
}

TEST(ConvolutionRows, ChannelsOfAPixelLieBesideEachOther) {
  const Convolution conv = checked_convolution(convolution_case({.n = 2, .c = 3, .h = 1, .w = 2}));
  EXPECT_THAT(channels_last(conv, counted(12)), ElementsAre(1, 3, 5, 2, 4, 6, 7, 9, 11, 8, 10, 12));
  EXPECT_THAT(channels_last(conv, halves({2, 3, 1, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0.5F})),
              ElementsAre(1, 3, 5, 2, 4, 6, 7, 9, 11, 8, 10, 0.5F));
}

TEST(ConvolutionRows, ManyPixelsAreMovedToo) {
  const Convolution conv = checked_convolution(convolution_case({.n = 2, .c = 3, .h = 67, .w = 45}));
  constexpr std::size_t pixels = std::size_t{67} * 45;
  const std::vector<std::int16_t> x = counted(6 * pixels), moved = channels_last(conv, x);
  for (std::size_t i = 0; i < moved.size(); ++i) {
    const std::size_t n = i / (3 * pixels), pixel = i / 3 % pixels, c = i % 3;
    ASSERT_EQ(moved[i], x[(n * 3 + c) * pixels + pixel]) << i;
  }
}

TEST(ConvolutionRows, WeightsAreInTheOrderOfTapsThenChannels) {
  std::vector<int> values(24);
  std::iota(values.begin(), values.end(), 0);
  const ConvolutionSizes sizes{.c = 4, .h = 1, .w = 3, .oc = 4, .kernel = {1, 3}, .groups = 2};
  const IntegerRows rows =
      weight_rows(checked_convolution(convolution_case(sizes)), int8s({4, 2, 1, 3}, values));
  EXPECT_EQ(rows.rows, 4);
  EXPECT_EQ(rows.depth, 6);
  EXPECT_THAT(std::vector<int>(rows.row(0), rows.row(2)), ElementsAre(0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11));
  EXPECT_THAT(std::vector<int>(rows.row(2), rows.row(3)), ElementsAre(12, 15, 13, 16, 14, 17));
}

TEST(ConvolutionRows, WeightsOfTransposedOnesAreThoseOfTheGroup) {
  std::vector<int> values(24);
  std::iota(values.begin(), values.end(), 0);
  const ConvolutionSizes sizes{
      .c = 4, .h = 1, .w = 3, .oc = 4, .kernel = {1, 3}, .groups = 2, .output_padding = Pair{0, 0}};
  const IntegerRows rows =
      weight_rows(checked_convolution(convolution_case(sizes)), int8s({4, 2, 1, 3}, values));
  EXPECT_THAT(std::vector<int>(rows.row(0), rows.row(2)), ElementsAre(0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11));
  EXPECT_THAT(std::vector<int>(rows.row(2), rows.row(3)), ElementsAre(12, 18, 13, 19, 14, 20));
}

TEST(ConvolutionRows, PatchesHoldZerosWhereTapsLieInThePadding) {
  // In the first image of x, channel 0 is 1 2 3 and channel 1 is 4 5 6; the second image has 6 more.
  const Convolution conv = checked_convolution(convolution_case(
      {.n = 2, .c = 2, .h = 1, .w = 3, .kernel = {1, 3}, .stride = {1, 2}, .padding = {0, 1}}));
  EXPECT_THAT(row_of(conv, 0, 0, 0, 6), ElementsAre(0, 0, 1, 4, 2, 5));
  EXPECT_THAT(row_of(conv, 0, 1, 0, 6), ElementsAre(2, 5, 3, 6, 0, 0));
  EXPECT_THAT(row_of(conv, 0, 3, 0, 6), ElementsAre(8, 11, 9, 12, 0, 0));
}

TEST(ConvolutionRows, APartOfAPatchMayBeginAndEndInsideOfATap) {
  const Convolution conv = checked_convolution(
      convolution_case({.c = 6, .h = 3, .w = 3, .oc = 2, .kernel = {3, 2}, .padding = {1, 0}, .groups = 2}));
  const std::vector<int> whole = row_of(conv, 1, 1, 0, 18);
  for (std::int64_t first = 0; first < 18; ++first) {
    for (std::int64_t last = first + 1; last <= 18; ++last) {
      const std::vector<int> part(whole.begin() + first, whole.begin() + last);
      ASSERT_THAT(row_of(conv, 1, 1, first, last), ElementsAreArray(part)) << first << " to " << last;
    }
  }
}

TEST(ConvolutionRows, PatchesOfTransposedOnesSkipWhatTheStrideLeavesOut) {
  const Convolution conv = checked_convolution(convolution_case(
      {.h = 1, .w = 3, .kernel = {1, 3}, .stride = {1, 2}, .padding = {0, 1}, .output_padding = Pair{0, 1}}));
  ASSERT_THAT(conv.y_shape(), ElementsAre(1, 1, 1, 6));
  EXPECT_THAT(row_of(conv, 0, 0, 0, 3), ElementsAre(0, 1, 0));
  EXPECT_THAT(row_of(conv, 0, 1, 0, 3), ElementsAre(2, 0, 1));
  EXPECT_THAT(row_of(conv, 0, 5, 0, 3), ElementsAre(0, 0, 3));
}

TEST(ConvolutionRows, ElementsOfYAreInTheOrderOfChannelsThenPixels) {
  const Patches patches(checked_convolution(convolution_case({.n = 2, .h = 2, .w = 5, .oc = 3})));
  EXPECT_EQ(patches.index_in_y(0, 2), 20);
  EXPECT_EQ(patches.index_in_y(9, 1), 19);
  EXPECT_EQ(patches.index_in_y(13, 1), 43);
}

}  // namespace
}  // namespace assay::references
