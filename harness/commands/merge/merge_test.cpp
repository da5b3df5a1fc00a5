#include "harness/commands/merge/merge.h"

#include <gtest/gtest.h>

namespace assay::app {
namespace {

TEST(MixedOptions, AreThoseThatChangeWhatRowsSay) {
  RunOptions one;
  RunOptions other;
  other.out = "elsewhere";
  other.jobs = 3;
  other.cases.shard = "2/2";
  other.cases.balance = "report";
  other.ceilings = "measure";
  EXPECT_EQ(mixed_options(one, other), std::nullopt);
  other.rows.budget_s = 0.02;
  EXPECT_EQ(mixed_options(one, other), "their --budget is 1 and 0.02");
  EXPECT_EQ(mixed_options(other, one), "their --budget is 0.02 and 1");
  other.validation = true;
  other.robust_access = true;
  one.ceilings = "none";
  one.rows.baseline_impl = "plain";
  one.rows.injected_slowdown_pct = 5;
  one.rows.program_limit_s = 2;
  EXPECT_EQ(
      mixed_options(one, other),
      "their --baseline-impl is plain and none, their --budget is 1 and 0.02, their --program-limit is 2 "
      "and 10, their --ceilings is none and stored or measure, their --inject-slowdown is 5 and 0, their "
      "--validation is off and on, their --robust-access is off and on");
}

}  // namespace
}  // namespace assay::app
