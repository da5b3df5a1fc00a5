#include "harness/engine/ceilings/ceilings_bench.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace assay::ceiling {
namespace {

constexpr double full_ns = 100;  // time of the clock probe at full clock

/// A device whose clock ratio at a time in seconds is `ratio`; a reading takes 10 ms.
struct Device {
  std::function<double(double)> ratio = [](double) { return 1.0; };
  double now_s = 0;
  double rested_s = 0;
  int readings = 0;
  ClockWatch clock;

  Device() {
    for (int i = 0; i < 5; ++i) clock.hear(full_ns);
  }
  std::optional<Reading> best(const Patience& patience = {}) {
    const ReadingSource source{.read =
                                   [this] {
                                     ++readings;
                                     now_s += 0.01;
                                     const double clock_now = ratio(now_s);
                                     return Reading{.ns = 1000 / clock_now, .probe_ns = full_ns / clock_now};
                                   },
                               .now_s = [this] { return now_s; },
                               .rest_s =
                                   [this](double seconds) {
                                     rested_s += seconds;
                                     now_s += seconds;
                                   }};
    return best_reading(source, clock, patience, 1);
  }
};

TEST(BestReading, IsTheShortestOfSome) {
  Device device;
  device.ratio = [](double now_s) { return now_s > 0.03 ? 1.0 : 0.99; };
  const auto best = device.best();
  ASSERT_TRUE(best);
  EXPECT_DOUBLE_EQ(best->ns, 1000);
  EXPECT_EQ(device.readings, Patience{}.repetitions);
}

TEST(BestReading, HeatsTheDeviceUntilTheClockIsUp) {
  Device device;
  device.ratio = [](double now_s) { return now_s > 0.5 ? 1.0 : 0.3; };
  const auto best = device.best();
  ASSERT_TRUE(best);
  EXPECT_DOUBLE_EQ(best->ns, 1000);
  EXPECT_GT(device.readings, 50);
  EXPECT_EQ(device.rested_s, 0);
}

TEST(BestReading, RestsAndTriesOnceMore) {
  Device device;
  device.ratio = [&device](double) { return device.rested_s > 0 ? 1.0 : 0.5; };
  const auto best = device.best();
  ASSERT_TRUE(best);
  EXPECT_DOUBLE_EQ(best->ns, 1000);
}

TEST(BestReading, IsNothingWhereTheClockStaysDown) {
  Device device;
  device.ratio = [](double) { return 0.5; };
  EXPECT_FALSE(device.best());
  EXPECT_LT(device.now_s, 2);
}

TEST(BestReading, EndsWhenLongKernelsHaveTakenTheirTime) {
  Device device;
  EXPECT_TRUE(device.best({.most_ns = 1500}));
  EXPECT_EQ(device.readings, 2);
}

TEST(BestReading, CountsAllOfADeviceWithoutAClockProbe) {
  Device device;
  const ReadingSource source{
      .read = [] { return Reading{.ns = 5}; }, .now_s = [] { return 0.0; }, .rest_s = [](double) {}};
  EXPECT_EQ(best_reading(source, device.clock, {}, 1)->ns, 5);
}

}  // namespace
}  // namespace assay::ceiling
