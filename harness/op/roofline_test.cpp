#include "harness/op/roofline.h"

#include <gmock/gmock.h>

namespace assay {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t mib = 1 << 20;

Ceilings device() {
  Ceilings ceilings;
  ceilings.bandwidth = {{1 * mib, 1000, 1000, 1000}, {1024 * mib, 100, 100, 100}};
  ceilings.fp32_gops = 10000;
  ceilings.dot4x8_gops = 40000;
  ceilings.dispatch_us = 2;
  return ceilings;
}

// 100 kB in all: at 1000 GB/s they take 0.1 us, at 100 GB/s 1 us.
Work copy() {
  return {.bytes_read = 50000, .bytes_written = 50000};
}

TEST(Cache, HasNamesThatAreReadBack) {
  for (const Cache cache : {Cache::Hot, Cache::Cold}) EXPECT_EQ(parse_cache(name_of(cache)), cache);
  EXPECT_EQ(name_of(Cache::Hot), "hot");
  EXPECT_EQ(name_of(Cache::Cold), "cold");
  EXPECT_FALSE(parse_cache("warm").has_value());
}

TEST(Roofline, IsEmptyWithoutCeilingsOrATime) {
  for (const Roofline& empty :
       {roofline({}, copy(), Cache::Hot, 1), roofline(device(), copy(), Cache::Hot, 0)}) {
    EXPECT_EQ(empty.pct_peak_bw, 0);
    EXPECT_EQ(empty.limited_by, "");
    EXPECT_EQ(empty.suspect, "");
  }
}

TEST(Roofline, IsTheShareOfTheBandwidthAtTheFootprint) {
  const Roofline hot = roofline(device(), copy(), Cache::Hot, 0.2);
  EXPECT_NEAR(hot.pct_peak_bw, 50, 1e-9);
  EXPECT_EQ(hot.pct_peak_ops, 0);
  EXPECT_EQ(hot.limited_by, "bandwidth");
  EXPECT_EQ(hot.suspect, "");
}

TEST(Roofline, HoldsColdRowsAgainstTheFarEndOfTheCurve) {
  EXPECT_NEAR(roofline(device(), copy(), Cache::Cold, 2).pct_peak_bw, 50, 1e-9);
  EXPECT_NEAR(roofline(device(), copy(), Cache::Hot, 2).pct_peak_bw, 5, 1e-9);
}

TEST(Roofline, TakesTheShareThatIsRead) {
  Ceilings ceilings;
  ceilings.bandwidth = {{1 * mib, 100, 200, 50}};
  EXPECT_NEAR(roofline(ceilings, {.bytes_read = 100000}, Cache::Hot, 1).pct_peak_bw, 50, 1e-9);
  EXPECT_NEAR(roofline(ceilings, {.bytes_written = 40000}, Cache::Hot, 1).pct_peak_bw, 80, 1e-9);
}

TEST(Roofline, IsTheShareOfTheCeilingThatTheWorkNames) {
  Work work = copy();
  work.operations = 10'000'000;
  work.ceiling = Work::Ceiling::Fp32;
  const Roofline fp32 = roofline(device(), work, Cache::Hot, 2);
  EXPECT_NEAR(fp32.pct_peak_ops, 50, 1e-9);
  EXPECT_EQ(fp32.limited_by, "operations");
  work.ceiling = Work::Ceiling::Dot4x8;
  EXPECT_NEAR(roofline(device(), work, Cache::Hot, 2).pct_peak_ops, 12.5, 1e-9);
  work.ceiling = Work::Ceiling::CoopInt8;
  EXPECT_EQ(roofline(device(), work, Cache::Hot, 2).pct_peak_ops, 0) << "the device has none";
  work.ceiling = Work::Ceiling::Bandwidth;
  EXPECT_EQ(roofline(device(), work, Cache::Hot, 2).pct_peak_ops, 0);
}

TEST(Roofline, IsLimitedByTheLargerShare) {
  Work work = copy();
  work.ceiling = Work::Ceiling::Fp32;
  work.operations = 999'000;
  EXPECT_EQ(roofline(device(), work, Cache::Hot, 0.2).limited_by, "bandwidth");
  work.operations = 1'001'000;
  EXPECT_EQ(roofline(device(), work, Cache::Hot, 0.2).limited_by, "operations");
}

TEST(Roofline, IsLatencyWhenBothSharesAreLowAndTheTimeIsShort) {
  EXPECT_EQ(roofline(device(), copy(), Cache::Hot, 0.51).limited_by, "latency");
  EXPECT_EQ(roofline(device(), copy(), Cache::Hot, 0.49).limited_by, "bandwidth") << "20 % is not low";
  EXPECT_EQ(roofline(device(), copy(), Cache::Hot, 9.9).limited_by, "latency");
  EXPECT_EQ(roofline(device(), copy(), Cache::Hot, 10.1).limited_by, "bandwidth") << "five spacings: slow";
}

TEST(Roofline, IsSuspectAbove105Percent) {
  EXPECT_EQ(roofline(device(), copy(), Cache::Hot, 0.1 / 1.049).suspect, "");
  const std::string suspect = roofline(device(), copy(), Cache::Hot, 0.1 / 1.06).suspect;
  EXPECT_THAT(suspect, HasSubstr("100000 bytes in 0.09434 us are 1060 GB/s, 106 % of the 1000 GB/s"));
}

TEST(Roofline, SuspectsTooManyOperationsToo) {
  Work work = copy();
  work.operations = 22'000'000;
  work.ceiling = Work::Ceiling::Fp32;
  EXPECT_THAT(roofline(device(), work, Cache::Hot, 2).suspect,
              HasSubstr("22000000 operations in 2 us are 110 % of the 1e+04 GOP/s"));
}

}  // namespace
}  // namespace assay
