#include "harness/device/ceilings.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace assay {
namespace {

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t mib = 1024 * kib;

Ceilings curve() {
  Ceilings ceilings;
  ceilings.bandwidth = {{1 * mib, 1000, 2000, 500}, {4 * mib, 800, 1000, 400}, {64 * mib, 200, 400, 100}};
  return ceilings;
}

TEST(Bandwidth, IsNothingWhenNothingWasMeasured) {
  EXPECT_FALSE(Ceilings{}.measured());
  EXPECT_EQ(bandwidth_gbps({}, mib, 0.5), 0);
}

TEST(Bandwidth, IsWhatWasMeasuredAtAPoint) {
  EXPECT_TRUE(curve().measured());
  EXPECT_DOUBLE_EQ(bandwidth_gbps(curve(), 4 * mib, 0.5), 800);
  EXPECT_DOUBLE_EQ(bandwidth_gbps(curve(), 4 * mib, 1), 1000);
  EXPECT_DOUBLE_EQ(bandwidth_gbps(curve(), 4 * mib, 0), 400);
}

TEST(Bandwidth, IsStraightOverTheLogarithmOfTheFootprint) {
  EXPECT_NEAR(bandwidth_gbps(curve(), 2 * mib, 0.5), 900, 1e-9);   // halfway from 1 to 4 MiB
  EXPECT_NEAR(bandwidth_gbps(curve(), 8 * mib, 0.5), 650, 1e-9);   // a quarter of the way from 4 to 64 MiB
  EXPECT_NEAR(bandwidth_gbps(curve(), 16 * mib, 0.5), 500, 1e-9);  // halfway from 4 to 64 MiB
}

TEST(Bandwidth, IsTheEndsOutsideOfTheCurve) {
  EXPECT_EQ(bandwidth_gbps(curve(), 0, 0.5), 1000);
  EXPECT_EQ(bandwidth_gbps(curve(), kib, 0.5), 1000);
  EXPECT_EQ(bandwidth_gbps(curve(), std::numeric_limits<std::uint64_t>::max(), 0.5), 200);
}

TEST(Bandwidth, IsStraightOverTheTimePerByteBetweenShares) {
  // Three quarters are read: half of the bytes move at the speed of copying, half at the speed of reading
  // alone.
  EXPECT_NEAR(bandwidth_gbps(curve(), mib, 0.75), 1 / (0.5 / 1000 + 0.5 / 2000), 1e-9);
  EXPECT_NEAR(bandwidth_gbps(curve(), mib, 0.25), 1 / (0.5 / 1000 + 0.5 / 500), 1e-9);
  EXPECT_NEAR(bandwidth_gbps(curve(), mib, 0.1), 1 / (0.2 / 1000 + 0.8 / 500), 1e-9);
}

TEST(Bandwidth, TakesNoShareBeyondReadOnlyAndWriteOnly) {
  EXPECT_DOUBLE_EQ(bandwidth_gbps(curve(), mib, 1.5), 2000);
  EXPECT_DOUBLE_EQ(bandwidth_gbps(curve(), mib, -1), 500);
}

TEST(Bandwidth, IsAFlatLineForOnePoint) {
  Ceilings test_case;
  test_case.bandwidth = {{mib, 10, 20, 5}};
  for (const std::uint64_t footprint : {kib, mib, 64 * mib}) {
    EXPECT_DOUBLE_EQ(bandwidth_gbps(test_case, footprint, 0.5), 10);
  }
}

TEST(Bandwidth, IsUnknownWhereAKindWasNotMeasured) {
  Ceilings ceilings;
  ceilings.bandwidth = {{mib, 10, 0, 5}};
  EXPECT_EQ(bandwidth_gbps(ceilings, mib, 0.9), 0);
  EXPECT_NEAR(bandwidth_gbps(ceilings, mib, 0.25), 1 / (0.5 / 10 + 0.5 / 5), 1e-9);
}

TEST(LargerOf, NamesTheKernelThatReachedTheFigureAndTheQuieterCircumstances) {
  Ceilings a, b;
  a.coop_int8_gops = 1300;
  a.coop_int8_kernel = "a";
  a.dot4x8_gops = 100;
  a.dot4x8_kernel = "a";
  a.clock_ratio = 0.7;
  a.host_load = 0.02;
  b.coop_int8_gops = 400;
  b.coop_int8_kernel = "b";
  b.dot4x8_gops = 120;
  b.dot4x8_kernel = "b";
  b.clock_ratio = 0.99;
  b.host_load = 0.4;
  const Ceilings larger = larger_of(a, b);
  EXPECT_EQ(larger.coop_int8_gops, 1300);
  EXPECT_EQ(larger.coop_int8_kernel, "a");
  EXPECT_EQ(larger.dot4x8_gops, 120);
  EXPECT_EQ(larger.dot4x8_kernel, "b");
  EXPECT_EQ(larger.clock_ratio, 0.99);
  EXPECT_EQ(larger.host_load, 0.02);
}

TEST(Ceilings, HaveARateForEachCeilingButBandwidth) {
  Ceilings ceilings;
  ceilings.fp32_gops = 1;
  ceilings.fp16_gops = 2;
  ceilings.dot4x8_gops = 3;
  ceilings.coop_int8_gops = 4;
  ceilings.coop_fp16_gops = 5;
  const std::pair<Ceiling, double> rates[] = {{Ceiling::Bandwidth, 0}, {Ceiling::Fp32, 1},
                                              {Ceiling::Fp16, 2},      {Ceiling::Dot4x8, 3},
                                              {Ceiling::CoopInt8, 4},  {Ceiling::CoopFp16, 5}};
  for (const auto& [ceiling, gops] : rates) EXPECT_EQ(ceilings.gops(ceiling), gops) << name_of(ceiling);
}

}  // namespace
}  // namespace assay
