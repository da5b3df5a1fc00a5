#include "references/relayout/permute.h"

#include "harness/base/error.h"
#include "references/golden/golden_test_support.h"
#include "references/relayout/q8ta_clone.h"
#include "references/relayout/view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace assay::references {
namespace {

using namespace test;

using testing::ElementsAre;

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

}  // namespace
}  // namespace assay::references
