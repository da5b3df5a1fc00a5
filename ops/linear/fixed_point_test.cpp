#include "ops/linear/integers_test_support.h"

#include <algorithm>
#include <array>
#include <limits>
#include <random>

// Compares shaders/linear/fixed_point.glslh with 64-bit arithmetic of the CPU.

namespace assay::ops {
namespace {

using namespace test;

using Int32 = std::numeric_limits<std::int32_t>;

struct Requantized {
  std::int32_t sum, multiplier, shift, zero_point;

  std::int32_t expected() const {
    const std::int64_t half = std::int64_t{1} << (shift - 1);
    const std::int64_t steps = (std::int64_t{sum} * multiplier + half) >> shift;
    return static_cast<std::int32_t>(std::clamp<std::int64_t>(steps + zero_point, -128, 127));
  }
};

class FixedPointTest : public WordsTest {
 protected:
  void expect_as_on_the_cpu(const std::vector<Requantized>& all) {
    std::vector<std::uint32_t> words;
    for (const Requantized& one : all) {
      for (const std::int32_t word : {one.sum, one.multiplier, one.shift, one.zero_point})
        words.push_back(static_cast<std::uint32_t>(word));
    }
    const std::vector<std::int32_t> got = run("fixed_point_test.comp", words, 1);
    for (std::size_t i = 0; i < all.size(); ++i) {
      ASSERT_EQ(got[i], all[i].expected()) << all[i].sum << " * " << all[i].multiplier << " >> "
                                           << all[i].shift << ", zero point " << all[i].zero_point;
    }
  }
};

TEST_F(FixedPointTest, IsRightAtEveryShiftForExtremes) {
  std::vector<Requantized> all;
  for (std::int32_t shift = 1; shift <= 62; ++shift) {
    for (const std::int32_t sum : {Int32::min(), Int32::min() + 1, -65537, -2, -1, 0, 1, 2, 3, 65536, 1 << 30,
                                   Int32::max() - 1, Int32::max()}) {
      for (const std::int32_t multiplier : {0, 1, 1 << 30, (1 << 30) + 1, 0x55555555, Int32::max()}) {
        for (const std::int32_t zero_point : {-128, -1, 0, 127})
          all.push_back({sum, multiplier, shift, zero_point});
      }
    }
  }
  expect_as_on_the_cpu(all);
}

/// A sum whose product lies `off` below a half of the last bit that the shift leaves, or as close to it as
/// possible.
Requantized near_half(std::int32_t multiplier, std::int32_t shift, std::int64_t result, std::int32_t off) {
  const auto sum = static_cast<std::int64_t>(
      ((static_cast<long double>(result) + 0.5L) * static_cast<long double>(std::int64_t{1} << shift)) /
      multiplier);
  return {static_cast<std::int32_t>(std::clamp<std::int64_t>(sum - off, Int32::min(), Int32::max())),
          multiplier, shift, 0};
}

TEST_F(FixedPointTest, RoundsWhatLiesAtAHalfAndBesideItInRange) {
  std::vector<Requantized> all;
  std::mt19937 random(61);
  for (int i = 0; i < 4096; ++i) {
    for (std::int32_t shift = 31; shift <= 54; ++shift) {
      const auto multiplier = static_cast<std::int32_t>((1U << 30) | (random() & 0x3fffffffU));
      const auto result = static_cast<std::int64_t>(random() % 256) - 128;
      for (const std::int32_t off : {-1, 0, 1})
        all.push_back(near_half(i % 8 == 0 ? 1 << 30 : multiplier, shift, result, off));
    }
  }
  const auto inside = std::ranges::count_if(
      all, [](const Requantized& one) { return -128 < one.expected() && one.expected() < 127; });
  EXPECT_GT(inside, static_cast<std::int64_t>(all.size() / 2)) << "results that saturate are not rounded";
  expect_as_on_the_cpu(all);
}

TEST_F(FixedPointTest, IsRightForRandomNumbers) {
  std::vector<Requantized> all;
  std::mt19937 random(62);
  for (int i = 0; i < 1 << 18; ++i) {
    const auto sum = static_cast<std::int32_t>(random()) >> (random() % 32);
    const auto multiplier = static_cast<std::int32_t>((1U << 30) | (random() & 0x3fffffffU));
    all.push_back({sum, multiplier, static_cast<std::int32_t>(1 + random() % 62),
                   static_cast<std::int32_t>(random() % 256) - 128});
  }
  expect_as_on_the_cpu(all);
}

}  // namespace
}  // namespace assay::ops
