#include "harness/engine/run/device_run.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

SamplingOptions with_budget(double budget_s) {
  SamplingOptions options;
  options.budget_s = budget_s;
  return options;
}

TEST(TimingEstimate, IsAGuessFromTheBudgetAtFirst) {
  const TimingEstimate estimate(with_budget(2));
  EXPECT_DOUBLE_EQ(estimate.seconds(0), 0);
  EXPECT_DOUBLE_EQ(estimate.seconds(10), 33);
}

TEST(TimingEstimate, IsTheMeanOfAllRowsThatWereTimed) {
  TimingEstimate estimate(with_budget(2));
  estimate.note(3, 6);
  EXPECT_DOUBLE_EQ(estimate.seconds(5), 10);
  estimate.note(1, 2.8);
  EXPECT_DOUBLE_EQ(estimate.seconds(10), 22);
}

}  // namespace

}  // namespace assay
