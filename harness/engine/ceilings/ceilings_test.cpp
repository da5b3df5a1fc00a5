#include "harness/engine/ceilings/ceilings.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

class CeilingsTest : public ::testing::Test {
 protected:
  gpu::Instance instance;
  gpu::Device device{instance, gpu::select_devices(instance.devices(), {}).front()};
  gpu::ShaderLibrary shaders;
  TimingTools tools{device, shaders};
};

TEST_F(CeilingsTest, ArePositiveWhereTheDeviceHasTheFeatureAndZeroElsewhere) {
  const Ceilings ceilings = measure_ceilings(tools, shaders, {.max_footprint_bytes = 4 << 20});
  const DeviceInfo& info = device.info();
  EXPECT_GT(ceilings.fp32_gops, 0);
  EXPECT_EQ(ceilings.fp16_gops > 0, info.has(Feature::Float16));
  EXPECT_EQ(ceilings.dot4x8_gops > 0, info.has(Feature::DotProduct));
  if (!info.has(Feature::CooperativeMatrixNv)) {
    EXPECT_EQ(ceilings.coop_int8_gops, 0);
    EXPECT_EQ(ceilings.coop_fp16_gops, 0);
  }
  EXPECT_GT(ceilings.dispatch_us, 0);
  EXPECT_EQ(ceilings.measured_utc.size(), std::string("2026-01-02T03:04:05Z").size());
}

TEST_F(CeilingsTest, HaveACurveFromSmallFootprintsToTheLargestAskedFor) {
  const Ceilings ceilings = measure_ceilings(tools, shaders, {.max_footprint_bytes = 4 << 20});
  ASSERT_GE(ceilings.bandwidth.size(), 3U);
  EXPECT_EQ(ceilings.bandwidth.front().footprint_bytes, 64U << 10);
  EXPECT_EQ(ceilings.bandwidth.back().footprint_bytes, 4U << 20);
  std::uint64_t previous = 0;
  for (const BandwidthPoint& point : ceilings.bandwidth) {
    EXPECT_GT(point.footprint_bytes, previous);
    previous = point.footprint_bytes;
    for (const double gbps : {point.copy_gbps, point.read_gbps, point.write_gbps}) {
      EXPECT_GT(gbps, 0);
      EXPECT_LT(gbps, 1e5) << "more than any memory: a unit is wrong";
    }
  }
}

TEST_F(CeilingsTest, CanBeTimedByTheCpusClock) {
  device.distrust_timestamps();
  const Ceilings ceilings = measure_ceilings(tools, shaders, {.max_footprint_bytes = 64 << 10});
  ASSERT_EQ(ceilings.bandwidth.size(), 1U);
  EXPECT_GT(ceilings.bandwidth.front().copy_gbps, 0);
  EXPECT_GT(ceilings.fp32_gops, 0);
}

TEST_F(CeilingsTest, NameADriverByVersionAndACpuByItself) {
  DeviceInfo gpu{.type = "discrete", .driver_name = "NVIDIA", .driver_info = "580.1"};
  EXPECT_EQ(ceilings_driver(gpu), "NVIDIA 580.1");
  gpu.type = "cpu";
  EXPECT_TRUE(ceilings_driver(gpu).starts_with("NVIDIA 580.1 on "));
}

TEST_F(CeilingsTest, NameTheirKernels) {
  EXPECT_EQ(ceilings_kernels(shaders).size(), 32U);
  gpu::ShaderLibrary same;
  EXPECT_EQ(ceilings_kernels(shaders), ceilings_kernels(same));
}

}  // namespace
}  // namespace assay
