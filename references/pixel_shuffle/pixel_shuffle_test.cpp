#include "references/pixel_shuffle/pixel_shuffle.h"

#include "references/golden/golden_test_support.h"

#include <gtest/gtest.h>

namespace assay::references {
namespace {

using namespace test;

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
