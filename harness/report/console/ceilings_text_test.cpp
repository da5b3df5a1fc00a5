#include "harness/report/console/ceilings_text.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(CeilingsText, IsATableAndALineAFigure) {
  Ceilings ceilings;
  ceilings.driver = "NVIDIA 580.1";
  ceilings.measured_utc = "2026-01-02T03:04:05Z";
  ceilings.bandwidth = {
      {64 << 10, 1234.56, 2000, 987.66}, {1536 << 10, 5000, 5500.04, 4500}, {1U << 30, 2900, 3000, 2800}};
  ceilings.cache_bytes = 50 << 20;
  ceilings.fp32_gops = 61234;
  ceilings.fp16_gops = 9876.5;
  ceilings.dispatch_us = 2.374;
  EXPECT_EQ(ceilings_text(ceilings), R"(    bandwidth, GB/s
     footprint      copy      read     write
        64 KiB    1234.6    2000.0     987.7
       1.5 MiB    5000.0    5500.0    4500.0
         1 GiB    2900.0    3000.0    2800.0
    last-level cache    50 MiB
    fp32                61.2 Top/s
    fp16                9876.5 Gop/s
    int8 dot product    not supported
    cooperative int8    not supported
    cooperative fp16    not supported
    dispatch spacing    2.37 us
    measured            2026-01-02T03:04:05Z, driver NVIDIA 580.1
)");
}

TEST(CeilingsText, SaysWhenNoCacheShows) {
  EXPECT_NE(ceilings_text({}).find("last-level cache    none seen"), std::string::npos);
}

}  // namespace
}  // namespace assay
