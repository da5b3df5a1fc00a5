#include "harness/report/record/rough_time.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(RoughTime, HasFewBlocksOrAWideInterval) {
  PerfResult perf{.ci_pct = 10, .blocks = 5};
  EXPECT_EQ(why_rough(perf), "");
  perf.ci_pct = 10.1;
  EXPECT_EQ(why_rough(perf), "its interval is +- 10.1 %");
  perf.blocks = 4;
  EXPECT_EQ(why_rough(perf), "only 4 blocks, of the 5 that are needed");
  perf.blocks = 1;
  EXPECT_EQ(why_rough(perf), "only 1 block, of the 5 that are needed");
}

}  // namespace
}  // namespace assay
