#include "references/common/activation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace assay::references::activation_test {
namespace {

using testing::ElementsAre;

constexpr Activation all[] = {Activation::None, Activation::Relu, Activation::Relu6, Activation::Hardswish};
constexpr float infinity = std::numeric_limits<float>::infinity();

std::vector<float> activated_of(Activation activation, const std::vector<float>& values) {
  std::vector<float> made;
  for (const float value : values) made.push_back(activated(activation, value));
  return made;
}

Activation named(const std::string& name) {
  Params params;
  params.set("activation", name);
  return activation_of(params);
}

TEST(Activation, HasItsName) {
  EXPECT_EQ(named("none"), Activation::None);
  EXPECT_EQ(named("relu"), Activation::Relu);
  EXPECT_EQ(named("relu6"), Activation::Relu6);
  EXPECT_EQ(named("hardswish"), Activation::Hardswish);
}

TEST(Activation, ReluAndRelu6EndAtTheirBounds) {
  const std::vector<float> values{-infinity, -1, 0.25F, 6, 6.5F, infinity};
  EXPECT_THAT(activated_of(Activation::None, values), testing::ElementsAreArray(values));
  EXPECT_THAT(activated_of(Activation::Relu, values), ElementsAre(0, 0, 0.25F, 6, 6.5F, infinity));
  EXPECT_THAT(activated_of(Activation::Relu6, values), ElementsAre(0, 0, 0.25F, 6, 6, 6));
}

TEST(Activation, HardswishIsExactOutsideOfItsParabola) {
  EXPECT_THAT(activated_of(Activation::Hardswish, {-infinity, -7, -3, 3, 3.5F, infinity}),
              ElementsAre(0, 0, 0, 3, 3.5F, infinity));
}

TEST(Activation, HardswishRoundsEachStep) {
  constexpr float sixth = 0x1.555556p-3F;
  const float f = 1.1F;
  const float moved = f + 3, product = f * moved, result = product * sixth;
  EXPECT_EQ(activated(Activation::Hardswish, f), result);
  EXPECT_NE(static_cast<double>(result), activated(Activation::Hardswish, static_cast<double>(f)));
  EXPECT_NEAR(activated(Activation::Hardswish, -1.5), -0.375, 1e-15);
}

TEST(Activation, ANanStaysOneAndAZeroHasNoSign) {
  for (const Activation activation : all) {
    EXPECT_TRUE(std::isnan(activated(activation, std::numeric_limits<float>::quiet_NaN())));
  }
  for (const Activation activation : {Activation::Relu, Activation::Relu6}) {
    EXPECT_FALSE(std::signbit(activated(activation, -0.0F)));
    EXPECT_FALSE(std::signbit(activated(activation, -2.0F)));
  }
  EXPECT_FALSE(std::signbit(activated(Activation::Hardswish, -5.0F)));
}

}  // namespace
}  // namespace assay::references::activation_test
