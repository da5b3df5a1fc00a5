#include "references/linear/int8_epilogue.h"

#include "harness/base/error.h"
#include "references/linear/linear_test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay::references {
namespace {

using namespace test;

using testing::HasSubstr;

/// floor(a * mult / 2^shift + 1/2) without a shift of a negative number: an independent way to compute it.
std::int64_t plainly_rounded(std::int64_t a, const FixedPoint& by) {
  __extension__ using Wide = __int128;
  const Wide one = Wide{1} << by.shift;
  const Wide doubled = Wide{a} * by.mult * 2 + one;  // 2 * (a * mult + 2^(shift - 1))
  Wide quotient = doubled / (one * 2);
  if (doubled < 0 && quotient * one * 2 != doubled) --quotient;
  return static_cast<std::int64_t>(quotient);
}

TEST(FixedPoint, IsTheFactorTo31Bits) {
  std::mt19937 random(41);
  std::uniform_real_distribution<double> exponent(-30.9, 29.9);
  for (int i = 0; i < 2000; ++i) {
    const double r = std::exp2(exponent(random));
    const FixedPoint made = fixed_point(r).value();
    EXPECT_GE(made.mult, std::int64_t{1} << 30);
    EXPECT_LT(made.mult, std::int64_t{1} << 31);
    const long double back = std::ldexp(static_cast<long double>(made.mult), -made.shift);
    EXPECT_LE(std::fabs(back - static_cast<long double>(r)), static_cast<long double>(r) * 0x1p-31L) << r;
  }
}

TEST(FixedPoint, HasEndsAndCarries) {
  EXPECT_EQ(fixed_point(0.5)->mult, 1 << 30);
  EXPECT_EQ(fixed_point(0.5)->shift, 31);
  const FixedPoint carried = fixed_point(std::nextafter(1.0, 0.0)).value();  // llrint gives 2^31
  EXPECT_EQ(carried.mult, 1 << 30);
  EXPECT_EQ(carried.shift, 30);
  EXPECT_EQ(fixed_point(0x1p-32)->shift, 62);
  EXPECT_FALSE(fixed_point(0x1p-33).has_value());
  EXPECT_EQ(fixed_point(0x1.8p29)->shift, 1);
  EXPECT_FALSE(fixed_point(0x1p30).has_value());
}

TEST(Requantized, RoundsAsTheExactQuotientDoes) {
  std::mt19937 random(42);
  std::uniform_int_distribution<std::int32_t> any_sum(std::numeric_limits<std::int32_t>::min());
  std::uniform_int_distribution<std::int64_t> any_mult(std::int64_t{1} << 30, (std::int64_t{1} << 31) - 1);
  std::uniform_int_distribution<int> any_shift(1, 62);
  int inside = 0;
  for (int i = 0; i < 20000; ++i) {
    FixedPointChannel channel;
    channel.factor = {any_mult(random), any_shift(random)};
    const std::int32_t sum = any_sum(random) >> (i % 31);
    const std::int64_t want = plainly_rounded(sum, channel.factor) + 3;
    inside += want >= -128 && want <= 127 ? 1 : 0;
    ASSERT_EQ(requantized(channel, sum, false, 3), std::clamp<std::int64_t>(want, -128, 127))
        << sum << " * " << channel.factor.mult << " >> " << channel.factor.shift;
  }
  EXPECT_GT(inside, 5000);
}

TEST(Requantized, TiesGoUp) {
  FixedPointChannel half;
  half.factor = fixed_point(0.5).value();
  EXPECT_EQ(requantized(half, 1, false, 0), 1);    // 0.5
  EXPECT_EQ(requantized(half, 3, false, 0), 2);    // 1.5
  EXPECT_EQ(requantized(half, -1, false, 0), 0);   // -0.5
  EXPECT_EQ(requantized(half, -3, false, 0), -1);  // -1.5
}

TEST(Requantized, AddsTheBiasThenReluThenTheZeroPoint) {
  FixedPointChannel channel{fixed_point(1.0).value(), 10};
  EXPECT_EQ(requantized(channel, -30, false, 5), -15);
  EXPECT_EQ(requantized(channel, -30, true, 5), 5);
  EXPECT_EQ(requantized(channel, 30, true, 5), 45);
  EXPECT_EQ(requantized(channel, 300, true, 5), 127);
  EXPECT_EQ(requantized(channel, -300, false, 5), -128);
}

std::vector<FixedPointChannel> channels(const QParams& x, const QParams& y, std::vector<float> w_scale,
                                        std::vector<float> bias) {
  const auto n = static_cast<std::int64_t>(w_scale.size());
  const IntegerRows w{n, 4, std::vector<std::int16_t>(w_scale.size() * 4, -100)};
  return fixed_point_channels(x, y, w, w_scale, bias);
}

TEST(FixedPointChannels, HaveTheirBiasInUnitsOfTheSums) {
  const auto made = channels({0.5F, 3}, {0.25F, 0}, {0.125F, 2.0F}, {1.0F, -2.5F});
  EXPECT_EQ(made[0].factor.shift, 32);  // 0.25
  EXPECT_EQ(made[1].factor.shift, 28);  // 4
  EXPECT_EQ(made[0].bias, 16);
  EXPECT_EQ(made[1].bias, -2);  // -2.5: ties to even
}

std::string refusal(const QParams& x, const QParams& y, std::vector<float> w_scale, std::vector<float> bias) {
  try {
    channels(x, y, std::move(w_scale), std::move(bias));
  } catch (const ParameterError& error) {
    return error.parameter() + ": " + error.what();
  }
  return "accepted";
}

TEST(FixedPointChannels, RefuseFactorsOutOfReachNamingTheChannel) {
  EXPECT_EQ(refusal({1, 0}, {1, 0}, {1, 0x1p29F}, {}), "accepted");
  EXPECT_THAT(refusal({1, 0}, {1, 0}, {1, 0x1p30F}, {}), HasSubstr("epilogue: fixed_point"));
  EXPECT_THAT(refusal({1, 0}, {1, 0}, {1, 0x1p30F}, {}), HasSubstr("w_scale[1]"));
  EXPECT_EQ(refusal({1, 0}, {1, 0}, {0x1p-32F}, {}), "accepted");
  EXPECT_THAT(refusal({1, 0}, {1, 0}, {0x1p-33F}, {}), HasSubstr("w_scale[0]"));
}

TEST(FixedPointChannels, RefuseABiasWithWhichSumsCouldLeaveInt32) {
  // Sums of 4 * 100 * 131 = 52400 are possible; 2^31 - 1 minus that is 2147431247.
  const QParams x{1, -4};
  EXPECT_EQ(refusal(x, {1, 0}, {1}, {2147431168.0F}), "accepted");
  EXPECT_THAT(refusal(x, {1, 0}, {1}, {2147431296.0F}), HasSubstr("output channel 0"));
  EXPECT_THAT(refusal({1, 3}, {1, 0}, {1}, {-2147431296.0F}), HasSubstr("output channel 0"));
  EXPECT_THAT(refusal(x, {1, 0}, {1, 1}, {0, -1e30F}), HasSubstr("output channel 1, -2147483648"));
}

}  // namespace
}  // namespace assay::references
