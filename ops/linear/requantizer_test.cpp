#include "ops/linear/integers_test_support.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <random>
#include <utility>

// Compares shaders/linear/requantizer.glslh with float64 arithmetic of the CPU, bit for bit.

namespace assay::ops {
namespace {

using namespace test;

/// An integer for mantissas that are products of two others, which do not fit in 64 bits.
__extension__ using Int128 = __int128;

struct Channel {
  float x_scale = 1, w_scale = 1, y_scale = 1, bias = 0;
};

float scaled(std::int64_t mantissa, int exponent) {
  return std::ldexp(static_cast<float>(mantissa), exponent);
}

class Numbers {
 public:
  explicit Numbers(std::uint32_t seed) : random_(seed) {}

  std::uint32_t bits() { return static_cast<std::uint32_t>(random_()); }
  int below(int end) { return static_cast<int>(bits() % static_cast<std::uint32_t>(end)); }
  std::int64_t odd_mantissa(int count) {
    return (1LL << (count - 1)) | (bits() & ((1U << (count - 1)) - 1)) | 1;
  }

  float scale() {
    const std::uint32_t awkward[] = {0, 0x7fffff, 0x7ffffe, 1, 0x400000, 0x555555};
    const std::uint32_t mantissa = below(4) == 0 ? awkward[below(6)] : bits() & 0x7fffff;
    return std::bit_cast<float>(static_cast<std::uint32_t>(127 - 12 + below(24)) << 23 | mantissa);
  }

 private:
  std::mt19937 random_;
};

/// The x with x * a = 1 modulo `modulus`, if there is one.
std::optional<std::int64_t> inverse(std::int64_t a, std::int64_t modulus) {
  std::int64_t rest = modulus, next = a % modulus, x = 0, next_x = 1;
  while (next != 0) {
    const std::int64_t times = rest / next;
    rest = std::exchange(next, rest - times * next);
    x = std::exchange(next_x, x - times * next_x);
  }
  if (rest != 1) return std::nullopt;
  return x < 0 ? x + modulus : x;
}

/// Scales whose quotient is next to a number of `count` bits that ends in 1: t * y = x * w * 2^(count - 24)
/// +- 1, closer than with any other scales. 54 bits: halfway between two float64. 32 bits: halfway between
/// two multipliers, which rounding to float64 makes a tie.
void add_near_ties(std::vector<Channel>& channels, Numbers& numbers, int count) {
  const std::int64_t y = numbers.odd_mantissa(24), x = numbers.odd_mantissa(24);
  const std::int64_t modulus = x << (count - 24);
  const std::optional<std::int64_t> of_y = inverse(y, modulus);
  if (!of_y) return;
  for (const std::int64_t least : {*of_y, modulus - *of_y}) {
    for (std::int64_t t = least; t < 1LL << count; t += modulus) {
      const Int128 product = static_cast<Int128>(t) * y + (least == *of_y ? -1 : 1);
      const auto w = static_cast<std::int64_t>(product / modulus);
      if (product % modulus != 0 || w >> 23 != 1) continue;
      channels.push_back({scaled(x, -30), scaled(w, -30), scaled(y, -30), 0});
    }
  }
}

/// Biases as close to an integer, or to the middle of two, as a float can be: convergents p / q of the
/// scales' product over 2^55. Rounding to float64 makes many of them integers or ties; others carry from the
/// low bits into the upper ones.
void add_biases_near_integers(std::vector<Channel>& channels, Numbers& numbers) {
  const std::int64_t x = numbers.odd_mantissa(24), w = numbers.odd_mantissa(24);
  std::int64_t a = x * w, b = 1LL << 55, p = 0, before_p = 1, q = 1, before_q = 0;
  while (a != 0 && q < 1LL << 32 && p < 1LL << 24) {
    const int more = std::max(0, 31 - static_cast<int>(std::bit_width(static_cast<std::uint64_t>(q))));
    for (const int exponent : {-6, -6 + more})  // q / 2, and nearly 2^31
      channels.push_back({scaled(x, -30), scaled(w, -30), 1, scaled(p, exponent)});
    const std::int64_t times = b / a;
    b = std::exchange(a, b - times * a);
    before_p = std::exchange(p, times * p + before_p);
    before_q = std::exchange(q, times * q + before_q);
  }
}

class RequantizerTest : public WordsTest {
 protected:
  void expect_as_on_the_cpu(const std::vector<Channel>& channels) {
    std::vector<std::uint32_t> words;
    for (const Channel& channel : channels) {
      for (const float value : {channel.x_scale, channel.w_scale, channel.y_scale, channel.bias})
        words.push_back(std::bit_cast<std::uint32_t>(value));
    }
    const std::vector<std::int32_t> got = run("requantizer_test.comp", words, 3);
    for (std::size_t i = 0; i < channels.size(); ++i) {
      const Channel& of = channels[i];
      const HostRequantizer want = host_requantizer(of.x_scale, of.w_scale, of.y_scale, of.bias);
      const HostRequantizer there{got[3 * i], got[3 * i + 1], got[3 * i + 2]};
      ASSERT_TRUE(there == want) << std::hexfloat << "scales " << of.x_scale << ", " << of.w_scale << ", "
                                 << of.y_scale << ", bias " << of.bias << " gave " << there.multiplier
                                 << " >> " << there.shift << " and " << there.bias << ", not "
                                 << want.multiplier << " >> " << want.shift << " and " << want.bias;
    }
  }
};

TEST_F(RequantizerTest, IsThatOfTheCpuForRandomScalesAndBiases) {
  std::vector<Channel> channels;
  Numbers numbers(81);
  for (int i = 0; i < 1 << 16; ++i) {
    Channel channel{numbers.scale(), numbers.scale(), numbers.scale(), 0};
    const double step = static_cast<double>(channel.x_scale) * static_cast<double>(channel.w_scale);
    const double steps =
        std::ldexp(static_cast<double>(static_cast<std::int32_t>(numbers.bits())), -numbers.below(40));
    channel.bias = static_cast<float>(steps * step);
    channels.push_back(channel);
  }
  expect_as_on_the_cpu(channels);
}

TEST_F(RequantizerTest, RoundsTiesOfMultipliersAndBiasesToEven) {
  std::vector<Channel> channels;
  Numbers numbers(82);
  for (int i = 0; i < 4096; ++i) {
    const std::int64_t x = numbers.odd_mantissa(16), w = numbers.odd_mantissa(16);
    if (x * w >> 31 == 1)
      channels.push_back({scaled(x, -20), scaled(w, -20), scaled(1, numbers.below(8) - 4), 0});
    const std::int64_t halves = numbers.odd_mantissa(1 + numbers.below(17));
    channels.push_back({scaled(5, -9), scaled(7, -7), 1, scaled((i % 2 == 0 ? 35 : -35) * halves, -17)});
  }
  expect_as_on_the_cpu(channels);
}

TEST_F(RequantizerTest, RoundsTwiceWhereFloat64Does) {
  for (const int count : {32, 54}) {
    std::vector<Channel> channels;
    Numbers numbers(83);
    for (int i = 0; i < 4096; ++i) add_near_ties(channels, numbers, count);
    EXPECT_GT(channels.size(), 500U);
    expect_as_on_the_cpu(channels);
  }
}

TEST_F(RequantizerTest, RoundsBiasesTwiceWhereFloat64Does) {
  std::vector<Channel> channels;
  Numbers numbers(84);
  for (int i = 0; i < 1 << 14; ++i) add_biases_near_integers(channels, numbers);
  expect_as_on_the_cpu(channels);
}

TEST_F(RequantizerTest, TakesAnyBias) {
  std::vector<Channel> channels;
  Numbers numbers(85);
  for (int i = 0; i < 1 << 14; ++i) {
    channels.push_back(
        {numbers.scale(), numbers.scale(), numbers.scale(), std::bit_cast<float>(numbers.bits())});
  }
  for (const float bias :
       {0.0F, -0.0F, INFINITY, -INFINITY, NAN, -NAN, 0x1p-149F, -0x1p-126F, 0x1.fffffep127F}) {
    for (const float scale : {1.0F, 0x1p-126F, 0x1p-75F, 0x1.fffffep127F})
      channels.push_back({scale, scale, 1, bias});
  }
  for (const float bias :
       {0x1p31F, -0x1p31F, 0x1.fffffep30F, -0x1.fffffep30F, 0x1p32F, 0.5F, 1.5F, -0.5F, 0x1.000002p-1F})
    channels.push_back({1, 1, 1, bias});
  expect_as_on_the_cpu(channels);
}

// Scales that are refused still have a defined result: denormal scales keep their value, shifts are clamped.
TEST_F(RequantizerTest, ClampsTheShiftOfScalesThatDoNotFit) {
  std::vector<Channel> channels;
  Numbers numbers(86);
  for (int i = 0; i < 1 << 14; ++i) {
    const auto any = [&] { return std::bit_cast<float>(1 + numbers.bits() % 0x7f7fffffU); };
    channels.push_back({any(), any(), any(), 0});
  }
  for (int exponent = -36; exponent <= 36; ++exponent) {
    channels.push_back({scaled(1, exponent), 1, 1, 1});
    channels.push_back({scaled(0xffffff, exponent - 24), 0x1.fffffep-1F, 0x1.fffffep-1F, 1});
  }
  expect_as_on_the_cpu(channels);
}

}  // namespace
}  // namespace assay::ops
