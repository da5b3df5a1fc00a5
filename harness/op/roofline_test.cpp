#include "harness/op/roofline.h"

#include <gmock/gmock.h>

namespace assay {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t mebibyte = 1 << 20;

Ceilings device() {
  Ceilings ceilings;
  ceilings.bandwidth = {{1 * mebibyte, 1000, 1000, 1000}, {1024 * mebibyte, 100, 100, 100}};
  ceilings.fp32_gops = 10000;
  ceilings.dot4x8_gops = 40000;
  ceilings.dispatch_us = 2;
  return ceilings;
}

// 100 kB in total: they take 0.1 us at 1000 GB/s and 1 us at 100 GB/s.
Work copy() {
  return {.bytes_read = 50000, .bytes_written = 50000};
}

TEST(Cache, HasNames) {
  EXPECT_EQ(name_of(Cache::Hot), "hot");
  EXPECT_EQ(name_of(Cache::Cold), "cold");
}

TEST(Roofline, IsEmptyWithoutCeilingsOrATime) {
  for (const Roofline& empty :
       {roofline({}, copy(), {.time_us = 1}), roofline(device(), copy(), {.time_us = 0})}) {
    EXPECT_EQ(empty.pct_peak_bw, 0);
    EXPECT_EQ(empty.limited_by, "");
    EXPECT_EQ(empty.suspect, "");
  }
}

TEST(Roofline, IsTheShareOfTheBandwidthAtTheFootprint) {
  const Roofline hot = roofline(device(), copy(), {.time_us = 0.2});
  EXPECT_NEAR(hot.pct_peak_bw, 50, 1e-9);
  EXPECT_EQ(hot.pct_peak_ops, 0);
  EXPECT_EQ(hot.limited_by, "bandwidth");
  EXPECT_EQ(hot.suspect, "");
}

TEST(Roofline, HoldsColdRowsAgainstTheFarEndOfTheCurve) {
  EXPECT_NEAR(roofline(device(), copy(), {.time_us = 2, .cache = Cache::Cold}).pct_peak_bw, 50, 1e-9);
  EXPECT_NEAR(roofline(device(), copy(), {.time_us = 2}).pct_peak_bw, 5, 1e-9);
}

TEST(Roofline, TakesTheShareThatIsRead) {
  Ceilings ceilings;
  ceilings.bandwidth = {{1 * mebibyte, 100, 200, 50}};
  EXPECT_NEAR(roofline(ceilings, {.bytes_read = 100000}, {.time_us = 1}).pct_peak_bw, 50, 1e-9);
  EXPECT_NEAR(roofline(ceilings, {.bytes_written = 40000}, {.time_us = 1}).pct_peak_bw, 80, 1e-9);
}

TEST(Roofline, IsTheShareOfTheCeilingThatTheImplNames) {
  Work work = copy();
  work.operations = 10'000'000;
  const auto held_against = [&](Ceiling ceiling) {
    return roofline(device(), work, {.time_us = 2, .ceiling = ceiling});
  };
  const Roofline fp32 = held_against(Ceiling::Fp32);
  EXPECT_NEAR(fp32.pct_peak_ops, 50, 1e-9);
  EXPECT_EQ(fp32.peak_gops, 10'000);
  EXPECT_EQ(fp32.limited_by, "operations");
  EXPECT_NEAR(held_against(Ceiling::Dot4x8).pct_peak_ops, 12.5, 1e-9);
  EXPECT_EQ(held_against(Ceiling::CoopInt8).pct_peak_ops, 0) << "the device has none";
  EXPECT_EQ(held_against(Ceiling::Bandwidth).pct_peak_ops, 0);
}

TEST(Roofline, IsLimitedByTheLargerShare) {
  Work work = copy();
  const TimedProgram program{.time_us = 0.2, .ceiling = Ceiling::Fp32};
  work.operations = 999'000;
  EXPECT_EQ(roofline(device(), work, program).limited_by, "bandwidth");
  work.operations = 1'001'000;
  EXPECT_EQ(roofline(device(), work, program).limited_by, "operations");
}

TEST(Roofline, IsLatencyOnlyUnderTheSpacingOfDispatches) {
  EXPECT_EQ(roofline(device(), copy(), {.time_us = 0.51}).limited_by, "latency");
  EXPECT_EQ(roofline(device(), copy(), {.time_us = 7.9}).limited_by, "latency");
  EXPECT_EQ(roofline(device(), copy(), {.time_us = 8.1}).limited_by, "kernel");
  EXPECT_EQ(roofline(device(), copy(), {.time_us = 0.49}).limited_by, "bandwidth") << "20 % is not low";
  EXPECT_EQ(roofline(device(), copy(), {.time_us = 3900}).limited_by, "kernel");
}

TEST(Roofline, IsDispatchesWhereTheyAreHalfOfTheTime) {
  EXPECT_EQ(roofline(device(), copy(), {.time_us = 11.9, .dispatches = 3}).limited_by, "dispatches");
  EXPECT_EQ(roofline(device(), copy(), {.time_us = 12.1, .dispatches = 3}).limited_by, "latency");
  EXPECT_EQ(roofline(device(), copy(), {.time_us = 2, .dispatches = 1}).limited_by, "latency")
      << "one dispatch is no fewer than any program has";
  EXPECT_EQ(roofline(device(), copy(), {.time_us = 0.49, .dispatches = 3}).limited_by, "bandwidth");
}

TEST(Roofline, IsSuspectAbove105Percent) {
  EXPECT_EQ(roofline(device(), copy(), {.time_us = 0.1 / 1.049}).suspect, "");
  const std::string suspect = roofline(device(), copy(), {.time_us = 0.1 / 1.06}).suspect;
  EXPECT_THAT(suspect, HasSubstr("100000 bytes in 0.09434 us are 1060 GB/s, 106 % of the 1000 GB/s"));
}

TEST(Roofline, SuspectsTooManyOperationsToo) {
  Work work = copy();
  work.operations = 22'000'000;
  EXPECT_THAT(roofline(device(), work, {.time_us = 2, .ceiling = Ceiling::Fp32}).suspect,
              HasSubstr("22000000 operations in 2 us are 110 % of the 1e+04 GOP/s that this device was "
                        "measured to do (fp32)"));
}

TEST(LeastTime, IsThatOfTheSlowerOfMovingAndComputing) {
  Work work{.bytes_read = 3'000'000'000, .bytes_written = 0, .operations = 4'000'000'000'000};
  Ceilings slow = device();
  slow.bandwidth = {{.footprint_bytes = 1 << 20, .copy_gbps = 2, .read_gbps = 3, .write_gbps = 1}};
  slow.fp32_gops = 1000;
  const LeastTime computing = least_time(slow, work, {.ceiling = Ceiling::Fp32});
  EXPECT_NEAR(computing.seconds, 4, 1e-9);
  EXPECT_EQ(computing.because, "4e+12 operations at 1e+03 GOP/s (fp32)");
  work.operations = 1;
  const LeastTime moving = least_time(slow, work, {.ceiling = Ceiling::Fp32});
  EXPECT_NEAR(moving.seconds, 1, 1e-9);
  EXPECT_EQ(moving.because, "3e+09 bytes at 3 GB/s");
}

TEST(LeastTime, IsNotKnownWithoutCeilings) {
  const Work work{.bytes_read = 1'000'000'000, .operations = 1'000'000'000};
  EXPECT_EQ(least_time({}, work, {.ceiling = Ceiling::Fp32}).seconds, 0);
  Ceilings without_matrices = device();
  without_matrices.coop_int8_gops = 0;
  EXPECT_LT(least_time(without_matrices, work, {.ceiling = Ceiling::CoopInt8}).seconds, 1e-2)
      << "only what moves counts";
}

}  // namespace
}  // namespace assay
