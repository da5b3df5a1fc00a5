#include "references/pixel_shuffle/pixel_shuffle.h"

#include "harness/base/error.h"
#include "references/golden/golden_test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace assay::references {
namespace {

using namespace test;
using testing::ElementsAre;

Params shuffle_params(const Shape& shape, std::int64_t r, QParams x, QParams y) {
  Params params;
  params.set("shape", shape);
  params.set("upscale_factor", r);
  params.set("x", x);
  params.set("y", y);
  return params;
}

Params params_of(const Golden& golden) {
  const auto& of = golden.params;
  return shuffle_params(of.at("shape"), of.at("upscale_factor"), {of.at("x_scale"), of.at("x_zero_point")},
                        {of.at("y_scale"), of.at("y_zero_point")});
}

HostTensor shuffled(const Params& params, const HostTensor& x) {
  std::vector<Expected> outputs = q8ta_pixel_shuffle(params, std::vector{x});
  EXPECT_EQ(outputs.size(), 1u);
  EXPECT_TRUE(outputs[0].bound.empty());
  return std::move(outputs[0].values);
}

std::int32_t plain_requantized(std::int32_t q, const QParams& x, const QParams& y) {
  if (x == y) return q;
  const float inverse = 1.0f / y.scale;
  const float centred = static_cast<float>(q - x.zero_point);
  const float real = centred * x.scale;
  const float scaled = real * inverse;
  const float moved = std::nearbyint(scaled) + static_cast<float>(y.zero_point);
  return static_cast<std::int32_t>(std::clamp(moved, -128.0f, 127.0f));
}

/// The formula of one element, written as the header states it.
std::int32_t plain_element(const Params& params, const HostTensor& x, const Shape& out, std::int64_t index) {
  const Dims in = nchw(params.ints("shape"));
  const std::int64_t r = params.integer("upscale_factor");
  const std::vector<std::int64_t> at = coordinates(out, index);
  const std::int64_t channel = at[1] * r * r + at[2] % r * r + at[3] % r;
  const std::int64_t source = ((at[0] * in.c + channel) * in.h + at[2] / r) * in.w + at[3] / r;
  return plain_requantized(static_cast<std::int32_t>(x.at(source)), params.qparams("x"), params.qparams("y"));
}

HostTensor random_bytes(const Shape& shape, std::mt19937& random) {
  HostTensor x(DType::I8, shape);
  std::uniform_int_distribution<int> value(-128, 127);
  for (std::int8_t& q : x.as<std::int8_t>()) q = static_cast<std::int8_t>(value(random));
  return x;
}

TEST(Q8taPixelShuffle, AgreesWithThePlainFormulaOnRandomShapesAndParameters) {
  std::mt19937 random(21);
  std::uniform_int_distribution<std::int64_t> factor(1, 4), small(1, 5);
  std::uniform_real_distribution<float> scale(0.003f, 0.2f);
  std::uniform_int_distribution<std::int32_t> zero_point(-128, 127);
  for (int round = 0; round < 200; ++round) {
    const std::int64_t r = factor(random);
    const Shape shape{small(random), small(random) * r * r, small(random), small(random)};
    const QParams x_params{scale(random), zero_point(random)};
    const QParams y_params = round % 3 == 0 ? x_params : QParams{scale(random), zero_point(random)};
    const Params params = shuffle_params(shape, r, x_params, y_params);
    const HostTensor x = random_bytes(shape, random);
    const HostTensor y = shuffled(params, x);
    for (std::int64_t i = 0; i < y.numel(); ++i) {
      ASSERT_EQ(y.at(i), plain_element(params, x, y.shape(), i)) << params.canonical() << " element " << i;
    }
  }
}

TEST(Q8taPixelShuffle, MovesChannelsIntoSpace) {
  EXPECT_THAT(pixel_shuffled({2, 18, 3, 5}, 3), ElementsAre(2, 2, 9, 15));
  EXPECT_THAT(pixel_shuffled({8, 3, 5}, 2), ElementsAre(1, 2, 6, 10));
}

TEST(Q8taPixelShuffle, RefusesChannelsThatTheFactorSquaredDoesNotDivide) {
  try {
    pixel_shuffled({1, 6, 4, 4}, 2);
    FAIL() << "accepted";
  } catch (const ParameterError& error) {
    EXPECT_EQ(error.parameter(), "shape");
  }
}

TEST(Q8taPixelShuffle, GivesTheGoldenVectors) {
  const std::vector<Golden> vectors = golden_vectors("q8ta_pixel_shuffle");
  EXPECT_EQ(vectors.size(), 12u);
  std::int64_t flips = 0;
  for (const Golden& golden : vectors) {
    const HostTensor pre = golden.tensor("pre");
    const HostTensor y = shuffled(params_of(golden), golden.tensor("x"));
    const GoldenMatch match = compare(y, golden.tensor("y"), &pre);
    EXPECT_EQ(match.mismatches, 0) << golden.name;
    flips += match.flips;
  }
  EXPECT_EQ(flips, 0);
}

HostTensor shuffled(const HostTensor& x, std::int64_t r) {
  Params params;
  params.set("upscale_factor", r);
  std::vector<Expected> outputs = pixel_shuffle(params, std::vector{x});
  EXPECT_EQ(outputs.size(), 1U);
  EXPECT_TRUE(outputs[0].bound.empty());
  return std::move(outputs[0].values);
}

/// The element of x that an element of y is, by the header's formula.
std::int64_t source_of(const Dims& in, std::int64_t r, const std::vector<std::int64_t>& at) {
  const std::int64_t channel = at[1] * r * r + at[2] % r * r + at[3] % r;
  return ((at[0] * in.c + channel) * in.h + at[2] / r) * in.w + at[3] / r;
}

TEST(PixelShuffle, AgreesWithThePlainFormula) {
  for (const std::int64_t r : {1, 2, 3, 5}) {
    const Shape shape{2, 3 * r * r, 4, 3};
    HostTensor x(DType::F32, shape);
    for (std::int64_t i = 0; i < x.numel(); ++i) x.as<float>()[i] = static_cast<float>(i);
    const HostTensor y = shuffled(x, r);
    ASSERT_EQ(y.shape(), (Shape{2, 3, 4 * r, 3 * r}));
    for (std::int64_t i = 0; i < y.numel(); ++i) {
      ASSERT_EQ(y.at(i), x.at(source_of(nchw(shape), r, coordinates(y.shape(), i)))) << "element " << i;
    }
  }
}

TEST(PixelShuffle, MovesHalvesBitByBit) {
  HostTensor x(DType::F16, {1, 4, 1, 1});
  const std::vector<std::uint16_t> bits{0x7e01, 0x8000, 0x0001, 0xfc00};  // NaN, -0, denormal, -infinity
  for (std::size_t i = 0; i < bits.size(); ++i) x.as<Half>()[i].bits = bits[i];
  const HostTensor y = shuffled(x, 2);
  EXPECT_EQ(y.shape(), (Shape{1, 1, 2, 2}));
  for (std::size_t i = 0; i < bits.size(); ++i) EXPECT_EQ(y.as<Half>()[i].bits, bits[i]);
}

TEST(PixelShuffle, GivesTheGoldenVectors) {
  const std::vector<Golden> vectors = golden_vectors("pixel_shuffle");
  EXPECT_EQ(vectors.size(), 6U);
  for (const Golden& golden : vectors) {
    const HostTensor y = shuffled(golden.tensor("x"), golden.params.at("upscale_factor"));
    EXPECT_EQ(compare(y, golden.tensor("y"), nullptr).mismatches, 0) << golden.name;
  }
}

}  // namespace

}  // namespace assay::references
