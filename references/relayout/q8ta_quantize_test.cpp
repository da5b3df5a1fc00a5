#include "references/relayout/q8ta_quantize.h"

#include "references/golden/golden_test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace assay::references {
namespace {

using namespace test;

using testing::ElementsAre;

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

}  // namespace
}  // namespace assay::references
