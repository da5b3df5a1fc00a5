#include "references/elementwise/elementwise.h"

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
using testing::HasSubstr;

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

struct Scales {
  QParams a, b, y;
  double alpha = 1;
  std::string activation = "none";
};

HostTensor added(const HostTensor& a, const HostTensor& b, const Scales& scales) {
  Params params;
  params.set("a", scales.a);
  params.set("b", scales.b);
  params.set("y", scales.y);
  params.set("alpha", scales.alpha);
  params.set("activation", scales.activation);
  std::vector<Expected> outputs = q8ta_add(params, std::vector{a, b});
  EXPECT_EQ(outputs.size(), 1U);
  EXPECT_TRUE(outputs[0].bound.empty());
  return std::move(outputs[0].values);
}

HostTensor bytes(const Shape& shape, const std::vector<int>& values) {
  HostTensor tensor(DType::I8, shape);
  for (std::size_t i = 0; i < values.size(); ++i)
    tensor.as<std::int8_t>()[i] = static_cast<std::int8_t>(values[i]);
  return tensor;
}

HostTensor random_addend(const Shape& shape, std::mt19937& random) {
  HostTensor x(DType::I8, shape);
  std::uniform_int_distribution<int> value(-128, 127);
  for (std::int8_t& q : x.as<std::int8_t>()) q = static_cast<std::int8_t>(value(random));
  return x;
}

/// The steps one after the other, as references/elementwise/elementwise.h states them.
float plain_sum(int a, int b, const Scales& scales) {
  const float ra = static_cast<float>(a - scales.a.zero_point) * scales.a.scale;
  const float rb = static_cast<float>(b - scales.b.zero_point) * scales.b.scale;
  const float t = static_cast<float>(scales.alpha) * rb;
  const float s = ra + t;
  const float v = s * (1.0F / scales.y.scale);
  return std::clamp(std::nearbyint(v) + static_cast<float>(scales.y.zero_point), -128.0F, 127.0F);
}

/// The index into a tensor of this shape for coordinates of y, by PyTorch's rule.
std::int64_t broadcast_index(const Shape& shape, const std::vector<std::int64_t>& at) {
  std::int64_t index = 0;
  const std::size_t missing = at.size() - shape.size();
  for (std::size_t i = 0; i < shape.size(); ++i) {
    index = index * shape[i] + (shape[i] == 1 ? 0 : at[missing + i]);
  }
  return index;
}

void expect_plain(const Shape& a_shape, const Shape& b_shape, const Scales& scales, std::mt19937& random) {
  const HostTensor a = random_addend(a_shape, random);
  const HostTensor b = random_addend(b_shape, random);
  const HostTensor y = added(a, b, scales);
  ASSERT_EQ(y.shape(), broadcast(a_shape, b_shape));
  for (std::int64_t i = 0; i < y.numel(); ++i) {
    const std::vector<std::int64_t> at = coordinates(y.shape(), i);
    const auto q_a = static_cast<int>(a.at(broadcast_index(a_shape, at)));
    const auto q_b = static_cast<int>(b.at(broadcast_index(b_shape, at)));
    ASSERT_EQ(y.at(i), plain_sum(q_a, q_b, scales))
        << to_string(a_shape) << " + " << to_string(b_shape) << " element " << i;
  }
}

TEST(Q8taAdd, AddsRealValuesRoundsTiesToEvenAndSaturates) {
  const Scales scales{{0.5F, 1}, {0.5F, -1}, {1.0F, 3}};
  // Sums of 0.5, 1.5, 2.5, 127.5, -126
  const HostTensor y = added(bytes({5}, {1, 3, 5, 127, -125}), bytes({5}, {0, 0, 0, 127, -127}), scales);
  EXPECT_THAT(y.as<std::int8_t>(), ElementsAre(3, 5, 5, 127, -123));
  EXPECT_EQ(added(bytes({1}, {-128}), bytes({1}, {-128}), {{1.0F, 0}, {1.0F, 0}, {1.0F, 0}}).at(0), -128);
}

TEST(Q8taAdd, MultipliesBByAlpha) {
  const auto with_alpha = [](double alpha) {
    return added(bytes({1}, {10}), bytes({1}, {4}), {{1.0F, 0}, {1.0F, 0}, {1.0F, 0}, alpha}).at(0);
  };
  EXPECT_EQ(with_alpha(1), 14);
  EXPECT_EQ(with_alpha(2), 18);
  EXPECT_EQ(with_alpha(-1.25), 5);
  EXPECT_EQ(with_alpha(0), 10);
}

TEST(Q8taAdd, AgreesWithTheStepsAsTheyAreStatedWhateverIsBroadcast) {
  std::mt19937 random(41);
  std::uniform_real_distribution<float> scale(0.003F, 0.2F);
  std::uniform_int_distribution<std::int32_t> zero_point(-128, 127);
  const std::vector<std::pair<Shape, Shape>> shapes{
      {{2, 3, 4, 5}, {2, 3, 4, 5}}, {{2, 3, 4, 5}, {3, 1, 1}},    {{2, 3, 4, 5}, {5}},
      {{2, 3, 4, 5}, {4, 1}},       {{2, 3, 4, 5}, {1}},          {{1}, {2, 3}},
      {{3, 1, 5}, {2, 1, 4, 1}},    {{2, 1, 4, 1}, {1, 3, 1, 5}}, {{2, 3, 4, 5}, {1, 3, 4, 5}}};
  for (const double alpha : {1.0, 0.5, -1.25, 0.0}) {
    for (const auto& [a, b] : shapes) {
      const Scales scales{{scale(random), zero_point(random)},
                          {scale(random), zero_point(random)},
                          {scale(random), zero_point(random)},
                          alpha};
      expect_plain(a, b, scales, random);
    }
  }
}

TEST(Broadcast, AlignsAtTheRight) {
  EXPECT_THAT(broadcast({2, 3, 4, 5}, {3, 1, 1}), ElementsAre(2, 3, 4, 5));
  EXPECT_THAT(broadcast({1}, {7}), ElementsAre(7));
  EXPECT_THAT(broadcast({3, 1, 5}, {2, 1, 4, 1}), ElementsAre(2, 3, 4, 5));
}

TEST(Broadcast, RefusesDimsThatDifferAndAreNotOne) {
  try {
    broadcast({2, 3, 4}, {3, 3, 1});
    FAIL() << "accepted";
  } catch (const ParameterError& error) {
    EXPECT_EQ(error.parameter(), "b_shape");
    EXPECT_THAT(error.what(), HasSubstr("3 and 2"));
  }
}

TEST(Q8taAdd, ActivatesTheSumBeforeItIsQuantized) {
  const HostTensor a = bytes({5}, {-40, -10, 10, 20, 60}), b = bytes({5}, {0, 0, 0, 0, 0});
  const auto with = [&](const std::string& activation) {
    const HostTensor y = added(a, b, {{0.125F, 0}, {1, 0}, {0.125F, -2}, 1, activation});
    const std::span<const std::int8_t> q = y.as<std::int8_t>();
    return std::vector<int>(q.begin(), q.end());
  };
  EXPECT_THAT(with("none"), testing::ElementsAre(-42, -12, 8, 18, 58));
  EXPECT_THAT(with("relu"), testing::ElementsAre(-2, -2, 8, 18, 58));
  EXPECT_THAT(with("relu6"), testing::ElementsAre(-2, -2, 8, 18, 46));
  // -1.25 * 1.75 / 6 = -0.36; 1.25 * 4.25 / 6 = 0.89; 2.5 * 5.5 / 6 = 2.29
  EXPECT_THAT(with("hardswish"), testing::ElementsAre(-2, -5, 5, 16, 58));
}

TEST(Q8taAdd, GivesTheGoldenVectors) {
  const std::vector<Golden> vectors = golden_vectors("q8ta_add");
  EXPECT_EQ(vectors.size(), 5U);
  std::int64_t flips = 0;
  for (const Golden& golden : vectors) {
    const auto& of = golden.params;
    const auto qparams = [&](const std::string& name) {
      return QParams{of.at(name + "_scale"), of.at(name + "_zero_point")};
    };
    const HostTensor pre = golden.tensor("pre");
    const HostTensor y = added(golden.tensor("a"), golden.tensor("b"),
                               {qparams("a"), qparams("b"), qparams("y"), of.at("alpha"), "none"});
    const GoldenMatch match = compare(y, golden.tensor("y"), &pre);
    EXPECT_EQ(match.mismatches, 0) << golden.name;
    flips += match.flips;
  }
  EXPECT_EQ(flips, 4);
}

}  // namespace

}  // namespace assay::references
