#include "harness/base/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <stdexcept>

namespace assay {
namespace {

TEST(Quantile, InterpolatesLinearlyBetweenOrderStatistics) {
  const std::vector<double> values = {1, 2, 3, 4};
  EXPECT_DOUBLE_EQ(quantile(values, 0), 1);
  EXPECT_DOUBLE_EQ(quantile(values, 0.25), 1.75);
  EXPECT_DOUBLE_EQ(quantile(values, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(quantile(values, 0.75), 3.25);
  EXPECT_DOUBLE_EQ(quantile(values, 0.9), 3.7);
  EXPECT_DOUBLE_EQ(quantile(values, 1), 4);
}

TEST(Quantile, OfOneValueIsThatValue) {
  const std::vector<double> values = {7};
  for (const double q : {0.0, 0.3, 1.0}) EXPECT_DOUBLE_EQ(quantile(values, q), 7);
}

TEST(Quantile, OfNoValuesIsAMistakeOfTheCaller) {
  EXPECT_THROW(quantile({}, 0.5), std::logic_error);
}

TEST(Median, SortsForItself) {
  EXPECT_DOUBLE_EQ(median({9, 1, 5}), 5);
  EXPECT_DOUBLE_EQ(median({9, 1, 5, 4}), 4.5);
}

TEST(Summarize, MatchesValuesComputedByHand) {
  const Summary summary = summarize({4, 8, 6, 2, 10});
  EXPECT_DOUBLE_EQ(summary.min, 2);
  EXPECT_DOUBLE_EQ(summary.p25, 4);
  EXPECT_DOUBLE_EQ(summary.p50, 6);
  EXPECT_DOUBLE_EQ(summary.p75, 8);
  EXPECT_DOUBLE_EQ(summary.mean, 6);
  EXPECT_DOUBLE_EQ(summary.stdev, 3.1622776601683795) << "sqrt(40 / 4): of the sample, not the population";
}

TEST(Summarize, OneValueHasNoSpread) {
  EXPECT_EQ(summarize({3}).stdev, 0);
  EXPECT_DOUBLE_EQ(summarize({3}).p75, 3);
}

TEST(Summarize, OfNoValuesIsAMistakeOfTheCaller) {
  EXPECT_THROW(summarize({}), std::logic_error);
}

/// Returns the values 1..n, so that an interval shows which order statistics it took.
std::vector<double> first_integers(int n) {
  std::vector<double> values;
  for (int i = n; i >= 1; --i) values.push_back(i);
  return values;
}

TEST(MedianInterval, TakesTheOrderStatisticsOfTheBinomialDistribution) {
  struct Row {
    int n;
    double low;
    double high;
  };
  // 1 - 2 P(Binomial(n, 1/2) < low): 93.75 %, 96.9 %, 99.2 %, 96.1 %, 96.1 %, 95.7 %.
  for (const Row& row :
       {Row{5, 1, 5}, Row{6, 1, 6}, Row{8, 1, 8}, Row{9, 2, 8}, Row{12, 3, 10}, Row{25, 8, 18}}) {
    const MedianInterval interval = median_interval(first_integers(row.n));
    EXPECT_EQ(interval.low, row.low) << row.n;
    EXPECT_EQ(interval.high, row.high) << row.n;
  }
}

// 93 % of a binomial distribution are within 1.81 standard deviations, each sqrt(n) / 2.
TEST(MedianInterval, IsAsWideAsItIsOfThousandsOfValues) {
  for (const int n : {500, 1073, 1074, 1075, 1142, 2000, 20000}) {
    std::vector<double> values;
    for (int i = 1; i <= n; ++i) values.push_back(i);
    const MedianInterval found = median_interval(values);
    const double half = 0.906 * std::sqrt(n);
    EXPECT_NEAR(found.low, n / 2.0 - half, 2) << n;
    EXPECT_NEAR(found.high, n / 2.0 + half, 2) << n;
  }
}

TEST(MedianInterval, OfOneValueIsThatValue) {
  EXPECT_EQ(median_interval({4}).low, 4);
  EXPECT_EQ(median_interval({4}).high, 4);
  EXPECT_THROW(median_interval({}), std::logic_error);
}

TEST(MedianInterval, HoldsTheMedianAsOftenAsItPromises) {
  constexpr int trials = 20'000;
  std::mt19937_64 random(20260101);
  for (const int n : {5, 7, 10, 15, 25}) {
    int held = 0;
    for (int trial = 0; trial < trials; ++trial) {
      std::vector<double> values;
      for (int i = 0; i < n; ++i) {
        const double uniform = static_cast<double>(random() >> 11) * 0x1p-53;
        values.push_back(uniform * uniform * uniform);  // skewed, with the median at 1/8
      }
      const MedianInterval interval = median_interval(values);
      if (interval.low <= 0.125 && 0.125 <= interval.high) ++held;
    }
    // 93 % minus four standard deviations of 20000 trials.
    EXPECT_GE(static_cast<double>(held) / trials, 0.93 - 4 * 0.0018) << n;
  }
}

TEST(PairedRatio, WhatBothShareLeavesTheQuotient) {
  // The clock's speed drifts by half during the run; the ratio does not.
  const std::vector<double> b = {100, 110, 120, 130, 140, 150};
  std::vector<double> a;
  for (const double value : b) a.push_back(value * 0.5);
  const std::optional<Ratio> ratio = paired_ratio(a, b);
  ASSERT_TRUE(ratio);
  EXPECT_DOUBLE_EQ(ratio->median, 0.5);
  EXPECT_DOUBLE_EQ(ratio->interval.low, 0.5);
  EXPECT_DOUBLE_EQ(ratio->interval.high, 0.5);
  EXPECT_EQ(ratio->pairs, 6);
}

TEST(PairedRatio, IsTheMedianOfTheQuotientsWithItsInterval) {
  const std::vector<double> a = {2, 4, 3, 5, 6};
  const std::vector<double> b = {2, 2, 2, 2, 2};
  const std::optional<Ratio> ratio = paired_ratio(a, b);
  ASSERT_TRUE(ratio);
  EXPECT_DOUBLE_EQ(ratio->median, 2);
  EXPECT_DOUBLE_EQ(ratio->interval.low, 1);
  EXPECT_DOUBLE_EQ(ratio->interval.high, 3);
}

TEST(PairedRatio, LeavesOutWhatHasNoPartner) {
  const std::optional<Ratio> ratio = paired_ratio(std::vector<double>{2, 4, 1e9}, std::vector<double>{1, 2});
  ASSERT_TRUE(ratio);
  EXPECT_EQ(ratio->pairs, 2);
  EXPECT_DOUBLE_EQ(ratio->interval.high, 2);
  EXPECT_FALSE(paired_ratio(std::vector<double>{1, 2}, std::vector<double>{}));
  EXPECT_FALSE(paired_ratio(std::vector<double>{1}, std::vector<double>{0})) << "no time, no quotient";
}

TEST(IntervalPct, IsHalfTheIntervalOverTheMedian) {
  EXPECT_DOUBLE_EQ(interval_pct({90, 95, 100, 105, 110}), 10);
  EXPECT_DOUBLE_EQ(interval_pct({100, 100, 100, 100, 100}), 0);
}

TEST(Choices, AreCountedInBits) {
  EXPECT_NEAR(log2_choices(8, 3), std::log2(56), 1e-9);
  EXPECT_NEAR(log2_choices(8, 0), 0, 1e-9);
  EXPECT_NEAR(log2_choices(100'000, 2), std::log2(100'000.0 * 99'999 / 2), 1e-6);
  EXPECT_EQ(log2_choices(3, 4), 0);
}

TEST(ShareInterval, IsWilsons) {
  const Interval rare = share_interval(7, 60);
  EXPECT_NEAR(rare.low, 0.0577, 5e-4);
  EXPECT_NEAR(rare.high, 0.2218, 5e-4);
  EXPECT_EQ(share_interval(0, 60).low, 0);
  EXPECT_NEAR(share_interval(0, 60).high, 0.0602, 5e-4);
  EXPECT_EQ(share_interval(60, 60).high, 1);
  EXPECT_NEAR(share_interval(60, 60).low, 1 - 0.0602, 5e-4);
  EXPECT_EQ(share_interval(0, 0).high, 1) << "nothing is known";
}

TEST(UnseenShare, WouldHaveBeenSeenWithNinetyFivePercent) {
  for (const std::size_t trials : {1U, 2U, 7U, 60U, 1000U})
    EXPECT_NEAR(std::pow(1 - unseen_share(trials), static_cast<double>(trials)), 0.05, 1e-12);
  EXPECT_NEAR(unseen_share(60), 0.0487, 5e-5);
  EXPECT_EQ(unseen_share(0), 1);
}

}  // namespace
}  // namespace assay
