#include "harness/gpu/timer.h"

#include "harness/gpu/testing.h"

namespace assay::gpu {
namespace {

TEST(TicksToNs, MultipliesByADoublePeriod) {
  EXPECT_DOUBLE_EQ(ticks_to_ns(1000, 1100, 64, 52.08), 5208.0);
  EXPECT_DOUBLE_EQ(ticks_to_ns(7, 7, 64, 52.08), 0.0);
}

TEST(TicksToNs, SurvivesTheCountersWrap) {
  EXPECT_DOUBLE_EQ(ticks_to_ns((1ULL << 36) - 10, 15, 36, 2.0), 50.0);
  EXPECT_DOUBLE_EQ(ticks_to_ns((1ULL << 40) - 1, 0, 40, 1.0), 1.0);
  EXPECT_DOUBLE_EQ(ticks_to_ns(~0ULL, 4, 64, 1.0), 5.0);
}

TEST(TicksToNs, IgnoresBitsThatAreNotValid) {
  EXPECT_DOUBLE_EQ(ticks_to_ns((0xABCULL << 36) | 5, (0x123ULL << 36) | 9, 36, 1.0), 4.0);
  EXPECT_DOUBLE_EQ(ticks_to_ns(0, 1ULL << 40, 40, 1.0), 0.0);
  EXPECT_DOUBLE_EQ(ticks_to_ns(3, 9, 0, 1.0), 0.0);
}

TEST(TimerUnit, IsTheSmallestStepWhenPairsAreQuicker) {
  EXPECT_DOUBLE_EQ(timer_unit({0, 0, 0}, {0, 1000, 32, 64}), 32.0);
}

TEST(TimerUnit, IsTheP95OfEmptyPairsWhenTheyTakeLonger) {
  std::vector<double> pairs;
  for (int i = 100; i >= 1; --i) {
    pairs.push_back(i);
  }
  EXPECT_DOUBLE_EQ(timer_unit(pairs, pairs), 95.0);
}

TEST(TimerUnit, OfNothingIsNothing) {
  EXPECT_DOUBLE_EQ(timer_unit({}, {}), 0.0);
}

using TimerTest = GpuTest;

TEST_F(TimerTest, MeasuresAUnitThatIsSmallButNotNothing) {
  const double unit = measure_timer_unit_ns(device());
  if (device().info().timestamp_valid_bits == 0) {
    EXPECT_EQ(unit, 0);
    return;
  }
  EXPECT_GT(unit, 0);
  EXPECT_LT(unit, 100e6);
}

}  // namespace
}  // namespace assay::gpu
