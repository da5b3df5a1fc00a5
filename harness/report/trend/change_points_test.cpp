#include "harness/report/trend/change_points.h"

#include <gmock/gmock.h>

#include <random>

namespace assay {
namespace {

using ::testing::DoubleNear;
using ::testing::IsEmpty;

/// Times of nights around a level, which scatter by 1 %.
std::vector<double> nights_at(std::initializer_list<std::pair<int, double>> levels, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<double> noise(0, 0.01);
  std::vector<double> values;
  for (const auto& [count, level] : levels) {
    for (int i = 0; i < count; ++i) values.push_back(level * std::exp(noise(random)));
  }
  return values;
}

TEST(TimeLevelsTest, HaveNoChangeWithoutOne) {
  const auto found = time_levels(nights_at({{30, 100}}));
  ASSERT_TRUE(found);
  EXPECT_THAT(found->changes, IsEmpty());
  EXPECT_THAT(found->levels, testing::Each(DoubleNear(100, 1)));
  EXPECT_NEAR(found->deviation, 0.01, 0.005);
}

TEST(TimeLevelsTest, HaveTheNightOfAStep) {
  const auto found = time_levels(nights_at({{20, 100}, {10, 106}}));
  ASSERT_TRUE(found);
  ASSERT_EQ(found->changes.size(), 1U);
  EXPECT_NEAR(static_cast<double>(found->changes[0].first), 20, 1);
  EXPECT_NEAR(found->changes[0].ratio, 1.06, 0.01);
  EXPECT_NEAR(found->levels.front(), 100, 1);
  EXPECT_NEAR(found->levels.back(), 106, 1);
}

TEST(TimeLevelsTest, HaveEveryStepOfSeveral) {
  const auto found = time_levels(nights_at({{15, 100}, {10, 90}, {15, 100}}));
  ASSERT_TRUE(found);
  ASSERT_EQ(found->changes.size(), 2U);
  EXPECT_NEAR(found->changes[0].ratio, 0.9, 0.01);
  EXPECT_NEAR(found->changes[1].ratio, 1 / 0.9, 0.01);
}

TEST(TimeLevelsTest, TakeTwoSlowNightsForOutliers) {
  std::vector<double> values = nights_at({{30, 100}});
  values[10] = values[11] = 160;
  EXPECT_THAT(time_levels(values)->changes, IsEmpty());
  values[28] = values[29] = 160;
  EXPECT_THAT(time_levels(values)->changes, IsEmpty()) << "also if they are the newest";
}

TEST(TimeLevelsTest, FollowASlowDriftInSteps) {
  std::vector<double> values = nights_at({{60, 100}});
  for (std::size_t i = 0; i < values.size(); ++i) values[i] *= 1 + 0.1 * static_cast<double>(i) / 60;
  const auto found = time_levels(values);
  EXPECT_GT(found->levels.back() / found->levels.front(), 1.05) << "the middles of its first and last step";
  EXPECT_LT(found->levels.back() / found->levels.front(), 1.1);
}

TEST(TimeLevelsTest, AreUnknownForFewNights) {
  EXPECT_FALSE(time_levels(std::vector<double>{1, 1, 1, 2, 2}));
  const auto six = time_levels(std::vector<double>{1, 1, 1, 2, 2, 2});
  ASSERT_TRUE(six);
  ASSERT_EQ(six->changes.size(), 1U);
  EXPECT_EQ(six->changes[0].first, 3U);
  EXPECT_DOUBLE_EQ(six->changes[0].ratio, 2);
}

}  // namespace
}  // namespace assay
