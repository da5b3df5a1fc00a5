#include "ops/convolution/positions.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <random>
#include <set>

namespace assay::ops {
namespace {

/// The places of x that some tap meets, found one by one.
std::int64_t met_one_by_one(const ConvolutionAxis& axis) {
  const std::int64_t from = axis.transposed ? axis.x : axis.y, to = axis.transposed ? axis.y : axis.x;
  std::set<std::int64_t> places;
  for (std::int64_t i = 0; i < from; ++i) {
    for (std::int64_t tap = 0; tap < axis.kernel; ++tap) {
      const std::int64_t place = i * axis.stride - axis.padding + tap * axis.dilation;
      if (place >= 0 && place < to) places.insert(axis.transposed ? i : place);
    }
  }
  return static_cast<std::int64_t>(places.size());
}

ConvolutionAxis random_axis(std::mt19937& random) {
  const auto pick = [&random](std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(high - low + 1));
  };
  ConvolutionAxis axis{.x = pick(1, 30), .y = pick(1, 30), .kernel = pick(1, 6), .stride = pick(1, 9)};
  axis.padding = pick(0, 12);
  axis.dilation = pick(1, 9);
  axis.transposed = pick(0, 1) == 1;
  return axis;
}

TEST(PositionsMet, AreThoseThatSomeTapMeets) {
  std::mt19937 random(1);
  for (int round = 0; round < 20000; ++round) {
    const ConvolutionAxis axis = random_axis(random);
    ASSERT_EQ(positions_met(axis), met_one_by_one(axis))
        << axis.x << " to " << axis.y << ", kernel " << axis.kernel << ", stride " << axis.stride
        << ", padding " << axis.padding << ", dilation " << axis.dilation
        << (axis.transposed ? ", transposed" : "");
  }
}

TEST(PositionsPassedOver, AreThoseOfAPlaneThatNoTapMeets) {
  const ConvolutionAxis rows{.x = 16, .y = 4, .stride = 5}, columns{.x = 9, .y = 7, .kernel = 3};
  EXPECT_EQ(positions_passed_over(std::array{rows}), 16 - 4);
  EXPECT_EQ(positions_passed_over(std::array{columns}), 0);
  EXPECT_EQ(positions_passed_over(std::array{rows, columns}), 16 * 9 - 4 * 9);
}

}  // namespace
}  // namespace assay::ops
