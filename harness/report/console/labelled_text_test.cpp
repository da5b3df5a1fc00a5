#include "harness/report/console/labelled_text.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

Ceilings measured() {
  Ceilings ceilings;
  ceilings.device_uuid = "0a0b";
  ceilings.driver = "NVIDIA 580.1";
  ceilings.kernels = "c0ffee";
  ceilings.measured_utc = "2026-01-02T03:04:05Z";
  ceilings.bandwidth = {
      {64 << 10, 1234.56, 2000, 987.66}, {1536 << 10, 5000, 5500.04, 4500}, {1U << 30, 2900, 3000, 2800}};
  ceilings.cache_bytes = 50 << 20;
  ceilings.fp32_gops = 61234;
  ceilings.fp16_gops = 98.75;
  ceilings.dispatch_us = 2.374;
  return ceilings;
}

TEST(CeilingsText, IsATableAndALineAFigure) {
  EXPECT_EQ(ceilings_text(measured()),
            R"(    measured            2026-01-02T03:04:05Z, on 0a0b, driver NVIDIA 580.1
    kernels             c0ffee
    GB/s                footprint     copy     read   write
                           64 KiB  1234.56     2000  987.66
                         1536 KiB     5000  5500.04    4500
                            1 GiB     2900     3000    2800
    last cache          50 MiB
    fp32                61234 GOP/s
    fp16                98.75 GOP/s
    int8 dot            not supported
    int8 matrix         not supported
    fp16 matrix         not supported
    dispatch            2.374 us from one empty dispatch to the next
)");
}

TEST(CeilingsText, NamesTheKernelThatReachedARateAndTheCircumstances) {
  Ceilings ceilings = measured();
  ceilings.coop_int8_gops = 1300000;
  ceilings.coop_int8_kernel = "16x16x32 i8 to i32";
  ceilings.clock_ratio = 0.995;
  ceilings.host_load = 0.25;
  const std::string text = ceilings_text(ceilings);
  EXPECT_NE(text.find("int8 matrix         1300000 GOP/s by 16x16x32 i8 to i32\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("measured at         0.995 of the full clock, 0.25 of the host's processors"),
            std::string::npos);
}

TEST(CeilingsText, SaysWhenNothingWasMeasuredOrNoCacheShows) {
  EXPECT_EQ(ceilings_text({}), "    measured            none\n");
  Ceilings ceilings = measured();
  ceilings.cache_bytes = 0;
  EXPECT_NE(ceilings_text(ceilings).find("last cache          the curve shows none"), std::string::npos);
}

TEST(CeilingsLine, IsBandwidthFarOutAndAtItsBestAndWhatArithmeticThereIs) {
  EXPECT_EQ(ceilings_line(measured()),
            "copy 2900 GB/s at 1 GiB, 5000 at 1536 KiB; fp32 61234, fp16 98.8 GOP/s");
  EXPECT_EQ(ceilings_line({}), "not measured");
}

}  // namespace

}  // namespace assay
