#include "references/relayout/relayout.h"

#include "harness/base/error.h"
#include "references/golden/golden_test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace assay::references {
namespace {

using namespace test;
using testing::ElementsAre;

TEST(Clone, IsItsInputBitByBit) {
  HostTensor x(DType::F32, {1, 2, 2});
  const std::vector<float> values{-0.0F, 1e-45F, 3e38F, 0.1F};
  std::copy(values.begin(), values.end(), x.as<float>().begin());
  const std::vector<Expected> outputs = clone({}, std::vector{x});
  ASSERT_EQ(outputs.size(), 1U);
  EXPECT_TRUE(outputs[0].bound.empty());
  const HostTensor& y = outputs[0].values;
  EXPECT_EQ(y.shape(), x.shape());
  EXPECT_TRUE(std::equal(y.bytes().begin(), y.bytes().end(), x.bytes().begin(), x.bytes().end()));
}

/// The values 0, 1, 2, ... in row-major order.
HostTensor counting(const Shape& shape) {
  HostTensor x(DType::F32, shape);
  for (std::int64_t i = 0; i < x.numel(); ++i) x.as<float>()[i] = static_cast<float>(i);
  return x;
}

HostTensor only(std::vector<Expected> outputs) {
  EXPECT_EQ(outputs.size(), 1U);
  EXPECT_TRUE(outputs[0].bound.empty());
  return std::move(outputs[0].values);
}

HostTensor with_dims(const HostTensor& x, const Shape& dims) {
  Params params;
  params.set("dims", dims);
  return only(permute(params, std::vector{x}));
}

HostTensor viewed(const HostTensor& x, const Shape& shape) {
  Params params;
  params.set("new_shape", shape);
  return only(view(params, std::vector{x}));
}

/// The definition as four loops, which call `use(index in y, index in x)`.
template <class Use>
void each_place(const Shape& shape, const Shape& dims, Use use) {
  std::int64_t place = 0;
  Shape at(4);  // in x
  const auto size = [&](std::size_t i) { return shape[static_cast<std::size_t>(dims[i])]; };
  const auto index = [&](std::size_t i) -> std::int64_t& { return at[static_cast<std::size_t>(dims[i])]; };
  for (index(0) = 0; index(0) < size(0); ++index(0)) {
    for (index(1) = 0; index(1) < size(1); ++index(1)) {
      for (index(2) = 0; index(2) < size(2); ++index(2)) {
        for (index(3) = 0; index(3) < size(3); ++index(3)) {
          use(place++, ((at[0] * shape[1] + at[1]) * shape[2] + at[2]) * shape[3] + at[3]);
        }
      }
    }
  }
}

TEST(Permute, AgreesWithFourLoopsForEveryPermutation) {
  const Shape shape{3, 5, 2, 7};
  const HostTensor x = counting(shape);
  Shape dims{0, 1, 2, 3};
  do {
    const HostTensor y = with_dims(x, dims);
    ASSERT_EQ(y.shape(), permuted(shape, dims));
    each_place(shape, dims, [&](std::int64_t to, std::int64_t from) {
      ASSERT_EQ(y.at(to), x.at(from)) << to_string(dims) << " element " << to;
    });
  } while (std::next_permutation(dims.begin(), dims.end()));
}

TEST(Permute, TransposesAMatrix) {
  const HostTensor y = with_dims(counting({2, 3}), {1, 0});
  EXPECT_THAT(y.shape(), ElementsAre(3, 2));
  EXPECT_THAT(y.as<float>(), ElementsAre(0, 3, 1, 4, 2, 5));
}

TEST(Permute, CarriesDimsInTheOrderThatIsNamed) {
  EXPECT_THAT(permuted({2, 3, 5, 7}, {3, 0, 2, 1}), ElementsAre(7, 2, 5, 3));
}

TEST(Permute, RefusesWhatIsNoPermutation) {
  for (const Shape& dims : {Shape{0, 0}, Shape{0, 2}, Shape{-1, 0}, Shape{0}, Shape{0, 1, 2}}) {
    try {
      permuted({3, 4}, dims);
      FAIL() << "accepted " << to_string(dims);
    } catch (const ParameterError& error) {
      EXPECT_EQ(error.parameter(), "dims");
      EXPECT_THAT(error.what(), testing::HasSubstr(to_string(dims)));
    }
  }
}

TEST(Permute, MovesHalvesBitByBit) {
  HostTensor x(DType::F16, {2, 2});
  const std::vector<std::uint16_t> bits{0x7e01, 0x8000, 0x0001, 0xfc00};  // NaN, -0, denormal, -infinity
  for (std::size_t i = 0; i < bits.size(); ++i) x.as<Half>()[i].bits = bits[i];
  const HostTensor y = with_dims(x, {1, 0});
  EXPECT_EQ(y.as<Half>()[0].bits, 0x7e01);
  EXPECT_EQ(y.as<Half>()[1].bits, 0x0001);
  EXPECT_EQ(y.as<Half>()[2].bits, 0x8000);
  EXPECT_EQ(y.as<Half>()[3].bits, 0xfc00);
}

TEST(View, KeepsTheOrderInAnotherShape) {
  const HostTensor y = viewed(counting({2, 3, 4}), {6, 4});
  EXPECT_THAT(y.shape(), ElementsAre(6, 4));
  for (std::int64_t i = 0; i < 24; ++i) EXPECT_EQ(y.at(i), static_cast<double>(i));
}

TEST(Q8taClone, IsItsInput) {
  HostTensor x(DType::I8, {1, 2, 3});
  for (std::int64_t i = 0; i < x.numel(); ++i)
    x.as<std::int8_t>()[i] = static_cast<std::int8_t>(40 * i - 128);
  const HostTensor y = only(q8ta_clone({}, std::vector{x}));
  EXPECT_EQ(y.shape(), x.shape());
  EXPECT_TRUE(std::equal(y.bytes().begin(), y.bytes().end(), x.bytes().begin(), x.bytes().end()));
}

/// The chain of the unfused pixel shuffle: view, permutation of six dims as two of four, view.
TEST(Permute, WithViewsMakesThePixelShuffleOfTheGoldenVectors) {
  const std::vector<Golden> vectors = golden_vectors("pixel_shuffle");
  EXPECT_EQ(vectors.size(), 6U);
  for (const Golden& golden : vectors) {
    const HostTensor x = golden.tensor("x");
    const HostTensor want = golden.tensor("y");
    const Dims in = nchw(x.shape());
    const std::int64_t r = golden.params.at("upscale_factor");
    const std::int64_t planes = in.n * in.c / (r * r);
    // {planes, r, r, h * w} -> {planes, r, h * w, r}, after which w and the last r are neighbours.
    const HostTensor right = with_dims(viewed(x, {planes, r, r, in.h * in.w}), {0, 1, 3, 2});
    const HostTensor rows = with_dims(viewed(right, {planes, r, in.h, in.w * r}), {0, 2, 1, 3});
    const HostTensor y = viewed(rows, want.shape());
    EXPECT_EQ(compare(y, want, nullptr).mismatches, 0) << golden.name;
  }
}

HostTensor quantized(const HostTensor& x, QParams to) {
  Params params;
  params.set("y", to);
  std::vector<Expected> outputs = q8ta_quantize(params, std::vector{x});
  EXPECT_EQ(outputs.size(), 1U);
  EXPECT_TRUE(outputs[0].bound.empty());
  EXPECT_EQ(outputs[0].values.shape(), x.shape());
  return std::move(outputs[0].values);
}

std::vector<int> quantized_values(const std::vector<float>& values, QParams to, DType dtype = DType::F32) {
  HostTensor x(dtype, {static_cast<std::int64_t>(values.size())});
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (dtype == DType::F32) x.as<float>()[i] = values[i];
    if (dtype == DType::F16) x.as<Half>()[i] = to_half(values[i]);
  }
  const HostTensor y = quantized(x, to);
  return {y.as<std::int8_t>().begin(), y.as<std::int8_t>().end()};
}

TEST(Q8taQuantize, RoundsTiesToEvenBeforeTheZeroPointIsAdded) {
  EXPECT_THAT(quantized_values({0.25F, 0.75F, 1.25F, -0.25F, -0.75F, -1.25F}, {0.5F, 0}),
              ElementsAre(0, 2, 2, 0, -2, -2));
  EXPECT_THAT(quantized_values({0.25F, 0.75F, 1.25F, -0.25F, -0.75F, -1.25F}, {0.5F, 1}),
              ElementsAre(1, 3, 3, 1, -1, -1));
}

TEST(Q8taQuantize, SaturatesAtBothEndsAlsoInfinities) {
  EXPECT_THAT(quantized_values({63.5F, 64.0F, -64.0F, -64.5F, 1e30F, -INFINITY, INFINITY}, {0.5F, 0}),
              ElementsAre(127, 127, -128, -128, 127, -128, 127));
  EXPECT_THAT(quantized_values({100.0F, 127.0F, -228.0F, -229.0F}, {1.0F, 100}),
              ElementsAre(127, 127, -128, -128));
}

TEST(Q8taQuantize, GivesTheZeroPointForNaN) {
  EXPECT_THAT(quantized_values({NAN, -NAN, 0.0F, -0.0F}, {0.1F, -7}), ElementsAre(-7, -7, -7, -7));
}

TEST(Q8taQuantize, MultipliesByTheRoundedReciprocal) {
  // Both quotients are ties, 6.5 and 1.5; the products lie above and below them.
  EXPECT_THAT(quantized_values({45.5F}, {7.0F, 0}), ElementsAre(7));
  EXPECT_THAT(quantized_values({91.5F}, {61.0F, 0}), ElementsAre(1));
}

TEST(Q8taQuantize, TakesHalvesAsTheRealValuesThatTheyAre) {
  EXPECT_THAT(quantized_values({0.25F, -0.75F, 65504.0F, INFINITY, NAN}, {0.5F, 3}, DType::F16),
              ElementsAre(3, 1, 127, 127, 3));
}

TEST(Q8taQuantize, GivesTheGoldenVectors) {
  const std::vector<Golden> vectors = golden_vectors("q8ta_quantize");
  EXPECT_EQ(vectors.size(), 3U);
  for (const Golden& golden : vectors) {
    const HostTensor y =
        quantized(golden.tensor("x"), {golden.params.at("scale"), golden.params.at("zero_point")});
    EXPECT_EQ(compare(y, golden.tensor("q"), nullptr).mismatches, 0) << golden.name;
  }
}

TEST(Q8taQuantize, GivesTheGoldenVectorsOfQuantizeAffineWithOneBlock) {
  int tried = 0;
  for (const Golden& golden : golden_vectors("quantize_affine")) {
    const HostTensor scale = golden.tensor("scale");
    if (scale.numel() != 1 || golden.params.at("quant_min") != -128 || !golden.has("zero_point")) continue;
    const QParams to{scale.as<float>()[0], static_cast<std::int32_t>(golden.tensor("zero_point").at(0))};
    const HostTensor want = golden.tensor("q");
    const HostTensor pre = golden.has("pre") ? golden.tensor("pre") : HostTensor();
    const GoldenMatch match =
        compare(quantized(golden.tensor("x"), to), want, golden.has("pre") ? &pre : nullptr);
    EXPECT_EQ(match.mismatches, 0) << golden.name;
    EXPECT_EQ(match.flips, 0) << golden.name;
    ++tried;
  }
  EXPECT_EQ(tried, 3);  // normal values, ties, special values
}

Expected dequantized(const HostTensor& x, QParams from, const std::string& dtype) {
  Params params;
  params.set("x", from);
  params.set("dtype", dtype);
  std::vector<Expected> outputs = q8ta_dequantize(params, std::vector{x});
  EXPECT_EQ(outputs.size(), 1U);
  EXPECT_EQ(outputs[0].values.shape(), x.shape());
  return std::move(outputs[0]);
}

HostTensor bytes(const std::vector<int>& values) {
  HostTensor x(DType::I8, {static_cast<std::int64_t>(values.size())});
  for (std::size_t i = 0; i < values.size(); ++i)
    x.as<std::int8_t>()[i] = static_cast<std::int8_t>(values[i]);
  return x;
}

TEST(Q8taDequantize, SubtractsTheZeroPointBeforeItScales) {
  const Expected y = dequantized(bytes({-128, -3, 0, 127}), {0.25F, -3}, "f32");
  EXPECT_TRUE(y.bound.empty());
  EXPECT_THAT(y.values.as<float>(), ElementsAre(-31.25F, 0.0F, 0.75F, 32.5F));
}

TEST(Q8taDequantize, GivesPlusZeroForTheZeroPoint) {
  const Expected y = dequantized(bytes({5}), {0.1F, 5}, "f32");
  EXPECT_EQ(y.values.at(0), 0.0);
  EXPECT_FALSE(std::signbit(y.values.at(0)));
}

TEST(Q8taDequantize, SpansTheWholeDifferenceOfTwoBytes) {
  EXPECT_THAT(dequantized(bytes({127}), {1.0F, -128}, "f32").values.as<float>(), ElementsAre(255.0F));
  EXPECT_THAT(dequantized(bytes({-128}), {1.0F, 127}, "f32").values.as<float>(), ElementsAre(-255.0F));
}

TEST(Q8taDequantize, IsBoundedByOneUlpInFloat16) {
  const Expected y = dequantized(bytes({3, 100, 0, -128}), {0.1F, 0}, "f16");
  EXPECT_EQ(y.values.at(0), to_float(to_half(0.1F * 3.0F)));
  EXPECT_THAT(y.bound, ElementsAre(0x1p-12F, 0x1p-7F, 0x1p-24F, 0x1p-7F));  // of 0.3, 10, 0, -12.8
}

TEST(Q8taDequantize, IsInfiniteBeyondTheHalves) {
  const Expected y = dequantized(bytes({127, -128}), {1000.0F, 0}, "f16");
  EXPECT_EQ(y.values.at(0), INFINITY);
  EXPECT_EQ(y.values.at(1), -INFINITY);
  EXPECT_THAT(y.bound, ElementsAre(0.0F, 0.0F));
}

TEST(Q8taDequantize, GivesTheGoldenVectorsOfDequantizeAffineWithOneBlock) {
  int tried = 0;
  for (const Golden& golden : golden_vectors("dequantize_affine")) {
    const HostTensor scale = golden.tensor("scale");
    const HostTensor q = golden.tensor("q");
    if (scale.numel() != 1 || q.dtype() != DType::I8) continue;
    const QParams from{scale.as<float>()[0], static_cast<std::int32_t>(golden.tensor("zero_point").at(0))};
    EXPECT_EQ(compare(dequantized(q, from, "f32").values, golden.tensor("y"), nullptr).mismatches, 0)
        << golden.name;
    ++tried;
  }
  EXPECT_EQ(tried, 3);  // whole range, narrow, int4 values
}

}  // namespace

}  // namespace assay::references
