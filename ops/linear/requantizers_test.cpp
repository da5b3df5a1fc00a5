#include "ops/linear/requantizers.h"

#include "harness/base/error.h"
#include "harness/op/op.h"
#include "ops/linear/integers_test_support.h"
#include "ops/linear/tensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <utility>

namespace assay::ops {

// The set-up of `epilogue: fixed_point` as a program. The op here does nothing else: the scratch of a linear
// op is its output.

namespace {

using namespace test;
using references::Linear;

Linear requantized_linear(const Params& params) {
  return references::linear_params(params, references::most_depth_with_zero_point);
}

std::vector<TensorSpec> requantizer_tensors(const Params& params) {
  const Linear linear = requantized_linear(params);
  TensorSpec made{.name = "made", .role = TensorSpec::Role::Output, .dtype = DType::I32};
  made.shape = {3, div_up(linear.n, 4) * 4};
  made.forms = {{Storage::Buffer, Layout::WP}};
  return with_bias(linear, int8_weights(linear), std::move(made));
}

std::vector<Expected> requantizers_of(const Params& params, std::span<const HostTensor> inputs) {
  const Linear linear = requantized_linear(params);
  const Shape shape = requantizer_tensors(params).back().shape;
  Expected result{.values = HostTensor(DType::I32, shape)};
  const auto values = result.values.as<std::int32_t>();
  const auto padded = static_cast<std::size_t>(shape[1]);
  for (std::size_t n = 0; n < padded; ++n) {
    HostRequantizer of;
    if (n < static_cast<std::size_t>(linear.n)) {
      const float bias = linear.bias ? inputs[2].as<float>()[n] : 0;
      of = host_requantizer(params.qparams("x").scale, inputs[1].as<float>()[n], params.qparams("y").scale,
                            bias);
    }
    values[n] = of.multiplier;
    values[padded + n] = of.shift;
    values[2 * padded + n] = of.bias;
  }
  return {std::move(result)};
}

Program set_up(const BuildContext& context) {
  Program program;
  const Resource made = requantizers(program, context);
  EXPECT_EQ(broken_setup_rule(program, context.tensors), std::nullopt);
  EXPECT_EQ(constant_scratch(program), std::vector{made});
  const auto output = static_cast<std::uint32_t>(context.tensors.size() - 1);
  program.dispatches.at(0).bindings.at(1) = Resource::tensor(output);
  program.scratch.clear();
  return program;
}

Op requantizers_op() {
  Op op{.name = "requantizers"};
  op.params = linear_params({qparams("x"), qparams("y")});
  op.tensors = requantizer_tensors;
  op.reference = requantizers_of;
  op.impls = {{.name = "setup", .tunables = {}, .build = set_up}};
  return op;
}

Params params_of(const Op& op, std::int64_t n, float x_scale, float y_scale, bool bias) {
  Params params;
  for (const char* name : {"M", "K"}) params.set(name, std::int64_t{8});
  params.set("N", n);
  params.set("x", QParams{x_scale, 3});
  params.set("y", QParams{y_scale, -5});
  params.set("bias", bias);
  return with_defaults(op, params);
}

class RequantizersTest : public OnDeviceTest {
 protected:
  const Op op = requantizers_op();
};

TEST_F(RequantizersTest, AreRightForEachChannelAndNoughtPastTheLast) {
  for (const bool bias : {false, true}) {
    for (const std::int64_t n : {1, 4, 13, 130, 4099}) {
      for (const FillKind fill : {FillKind::Normal, FillKind::Ties, FillKind::Special, FillKind::Wide}) {
        Trial trial{.op = &op, .params = params_of(op, n, 0.0173F, 0.31F, bias), .fill = fill, .seed = 31};
        for (const TensorSpec& tensor : op.tensors(trial.params)) trial.forms.push_back(tensor.forms.front());
        expect_right(trial);
      }
    }
  }
}

std::string refusal(const Params& params) {
  try {
    check_fixed_point(params);
    return "";
  } catch (const ParameterError& error) {
    EXPECT_EQ(error.parameter(), "y");
    return error.what();
  }
}

// Fills draw w_scale from 2^-8 to 2^-6.
TEST_F(RequantizersTest, ScalesOfYThatNoShiftFitsAreRefused) {
  const auto refused = [&](float x_scale, float y_scale) {
    return !refusal(params_of(op, 8, x_scale, y_scale, false)).empty();
  };
  EXPECT_FALSE(refused(0.02F, 0.3F));
  EXPECT_FALSE(refused(1, 0x1p24F)) << "shifts of 62 to 60";
  EXPECT_TRUE(refused(1, 0x1.000002p24F));
  EXPECT_FALSE(refused(1, 0x1.000002p-36F)) << "shifts of 1 to 3";
  EXPECT_TRUE(refused(1, 0x1p-36F));
  EXPECT_TRUE(refused(0x1p-149F, 1));
  EXPECT_THAT(refusal(params_of(op, 8, 1, 0x1p30F, false)),
              testing::HasSubstr("x.scale * w_scale / y.scale must lie between 2^-32 and 2^30"));
}

TEST_F(RequantizersTest, TheEndsOfWhatIsAcceptedAreShiftedBy1And62) {
  EXPECT_EQ(host_requantizer(1, 0x1p-8F, 0x1p24F, 0).shift, 62);
  EXPECT_EQ(host_requantizer(1, 0x1p-6F, 0x1.000002p-36F, 0).shift, 1);
  EXPECT_EQ(host_requantizer(1, 0x1p-6F, 0x1p-36F, 0).shift, 1) << "without the clamp it would be 0";
}

// Compares shaders/linear/requantizer.glslh with float64 arithmetic of the CPU, bit for bit.

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

// Compares shaders/linear/fixed_point.glslh with 64-bit arithmetic of the CPU.

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
