#include "references/elementwise/q8ta_relu.h"

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

HostTensor rectified(const HostTensor& x, QParams from, QParams to) {
  Params params;
  params.set("x", from);
  params.set("y", to);
  std::vector<Expected> outputs = q8ta_relu(params, std::vector{x});
  EXPECT_EQ(outputs.size(), 1U);
  EXPECT_TRUE(outputs[0].bound.empty());
  EXPECT_EQ(outputs[0].values.shape(), x.shape());
  return std::move(outputs[0].values);
}

std::vector<int> rectified_values(const std::vector<int>& values, QParams from, QParams to) {
  HostTensor x(DType::I8, {static_cast<std::int64_t>(values.size())});
  for (std::size_t i = 0; i < values.size(); ++i)
    x.as<std::int8_t>()[i] = static_cast<std::int8_t>(values[i]);
  const HostTensor y = rectified(x, from, to);
  return {y.as<std::int8_t>().begin(), y.as<std::int8_t>().end()};
}

HostTensor all_bytes() {
  HostTensor x(DType::I8, {256});
  for (int q = -128; q <= 127; ++q) x.as<std::int8_t>()[q + 128] = static_cast<std::int8_t>(q);
  return x;
}

TEST(Q8taRelu, GivesTheZeroPointOfYForWhatIsNotAboveThatOfX) {
  EXPECT_THAT(rectified_values({-128, -4, -3, -2, 0, 5}, {0.5F, -3}, {0.5F, 7}),
              ElementsAre(7, 7, 7, 8, 10, 15));
}

TEST(Q8taRelu, RoundsTiesToEvenBeforeTheZeroPointIsAdded) {
  EXPECT_THAT(rectified_values({1, 2, 3, 5, 7}, {0.5F, 0}, {1.0F, 1}), ElementsAre(1, 2, 3, 3, 5));
}

TEST(Q8taRelu, SaturatesAboveOnlyAndKeepsExtremeZeroPoints) {
  EXPECT_THAT(rectified_values({-128, 0, 20, 127}, {1.0F, 0}, {0.25F, 100}), ElementsAre(100, 100, 127, 127));
  EXPECT_THAT(rectified_values({-128, -1, 127}, {1.0F, -128}, {1.0F, -128}), ElementsAre(-128, -1, 127));
  EXPECT_THAT(rectified_values({-128, 0, 127}, {1.0F, 127}, {1.0F, -128}), ElementsAre(-128, -128, -128));
}

TEST(Q8taRelu, AgreesWithTheStepsAsTheyAreStatedForEveryByte) {
  std::mt19937 random(31);
  std::uniform_real_distribution<float> scale(0.003F, 0.2F);
  std::uniform_int_distribution<std::int32_t> zero_point(-128, 127);
  const HostTensor x = all_bytes();
  for (int round = 0; round < 200; ++round) {
    const QParams from{scale(random), zero_point(random)};
    const QParams to{scale(random), zero_point(random)};
    const HostTensor y = rectified(x, from, to);
    for (std::int64_t i = 0; i < 256; ++i) {
      const float difference = static_cast<float>(static_cast<std::int32_t>(x.at(i)) - from.zero_point);
      float real = difference * from.scale;
      if (real < 0.0F) real = 0.0F;
      const float inverse = 1.0F / to.scale;
      const float scaled = real * inverse;
      const float moved = std::nearbyint(scaled) + static_cast<float>(to.zero_point);
      ASSERT_EQ(y.at(i), std::min(std::max(moved, -128.0F), 127.0F)) << "round " << round << ", byte " << i;
    }
  }
}

TEST(RectifiedBytes, GrowWithTheByte) {
  const auto answers = rectified_bytes({0.05F, -20}, {0.011F, -100});
  for (int q = -127; q <= 127; ++q) {
    EXPECT_GE(answers[static_cast<std::uint8_t>(q)], answers[static_cast<std::uint8_t>(q - 1)]);
  }
}

TEST(Q8taRelu, GivesTheGoldenVectors) {
  const std::vector<Golden> vectors = golden_vectors("q8ta_relu");
  EXPECT_EQ(vectors.size(), 5U);
  std::int64_t flips = 0;
  for (const Golden& golden : vectors) {
    const auto& of = golden.params;
    const HostTensor pre = golden.tensor("pre");
    const HostTensor y = rectified(golden.tensor("x"), {of.at("x_scale"), of.at("x_zero_point")},
                                   {of.at("y_scale"), of.at("y_zero_point")});
    const GoldenMatch match = compare(y, golden.tensor("y"), &pre);
    EXPECT_EQ(match.mismatches, 0) << golden.name;
    flips += match.flips;
  }
  // y.scale is twice x.scale except in its last bits: every other value lies next to a tie.
  EXPECT_EQ(flips, 865);
}

}  // namespace
}  // namespace assay::references
