#include "harness/engine/ceilings/ceilings.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <vector>

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

constexpr double kib = 1024, mib = 1024 * kib;

/// Footprints from 64 KiB to 1 GiB, `per_octave` per doubling, with the bandwidths `gbps`.
std::vector<BandwidthPoint> curve_of(const std::function<double(double)>& gbps, int per_octave = 2) {
  std::vector<BandwidthPoint> curve;
  for (int i = 0; i <= 14 * per_octave; ++i) {
    const double bytes = 64 * kib * std::exp2(static_cast<double>(i) / per_octave);
    const double value = gbps(bytes);
    curve.push_back({static_cast<std::uint64_t>(bytes), value, 1.1 * value, 0.9 * value});
  }
  return curve;
}

/// Bandwidth when the cached part comes at the cache's speed and the rest from beyond it.
double cached(double bytes, double cache_bytes, double cache_gbps, double far_gbps) {
  const double share = std::min(1.0, cache_bytes / bytes);
  return 1 / (share / cache_gbps + (1 - share) / far_gbps);
}

/// The curve with every value off by up to `percent`.
std::vector<BandwidthPoint> noisy(std::vector<BandwidthPoint> curve, double percent, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> factor(1 - percent / 100, 1 + percent / 100);
  for (BandwidthPoint& point : curve) {
    point.copy_gbps *= factor(random);
    point.read_gbps *= factor(random);
    point.write_gbps *= factor(random);
  }
  return curve;
}

void expect_about(std::uint64_t got, double bytes) {
  EXPECT_GE(static_cast<double>(got), 0.7 * bytes);
  EXPECT_LE(static_cast<double>(got), 2.1 * bytes);
}

TEST(LastLevelCache, IsTheLargestFootprintAtItsSpeedWhereTheCurveHasACliff) {
  const auto curve = curve_of([](double bytes) { return bytes <= 32 * mib ? 5000.0 : 2900.0; });
  EXPECT_EQ(last_level_cache_bytes(curve), static_cast<std::uint64_t>(32 * mib));
}

TEST(LastLevelCache, IsFoundWhereTheCurveFallsGently) {
  const auto curve = curve_of([](double bytes) { return cached(bytes, 50 * mib, 5500, 2900); });
  expect_about(last_level_cache_bytes(curve), 50 * mib);
}

TEST(LastLevelCache, IsFoundInNoise) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    const auto curve = curve_of([](double bytes) { return cached(bytes, 4 * mib, 400, 100); });
    SCOPED_TRACE(seed);
    expect_about(last_level_cache_bytes(noisy(curve, 4, seed)), 4 * mib);
  }
}

TEST(LastLevelCache, IsTheOuterOfTwo) {
  const auto gbps = [](double bytes) { return bytes <= 1 * mib ? 900.0 : bytes <= 32 * mib ? 300.0 : 60.0; };
  EXPECT_EQ(last_level_cache_bytes(curve_of(gbps)), static_cast<std::uint64_t>(32 * mib));
  for (unsigned seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(seed);
    expect_about(last_level_cache_bytes(noisy(curve_of(gbps), 3, seed)), 32 * mib);
  }
}

TEST(LastLevelCache, IsFoundOnAGridOfPowersOfTwo) {
  const auto curve = curve_of([](double bytes) { return cached(bytes, 8 * mib, 200, 25); }, 1);
  expect_about(last_level_cache_bytes(curve), 8 * mib);
}

TEST(LastLevelCache, IsNoneWhereTheCurveIsFlat) {
  EXPECT_EQ(last_level_cache_bytes(curve_of([](double) { return 100.0; })), 0U);
  for (unsigned seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(seed);
    EXPECT_EQ(last_level_cache_bytes(noisy(curve_of([](double) { return 100.0; }), 8, seed)), 0U);
  }
}

TEST(LastLevelCache, IsNoneWhereSmallFootprintsAreSlower) {
  const auto curve = curve_of([](double bytes) { return 100 * bytes / (bytes + mib); });
  EXPECT_EQ(last_level_cache_bytes(curve), 0U);
}

TEST(LastLevelCache, IsNotMadeByOneOutlier) {
  auto curve = curve_of([](double) { return 100.0; });
  curve[20].copy_gbps = curve[20].read_gbps = curve[20].write_gbps = 300;
  EXPECT_EQ(last_level_cache_bytes(curve), 0U);
  curve = curve_of([](double bytes) { return cached(bytes, 4 * mib, 400, 100); });
  const std::uint64_t without = last_level_cache_bytes(curve);
  curve.back().copy_gbps = curve.back().read_gbps = curve.back().write_gbps = 40;
  EXPECT_EQ(last_level_cache_bytes(curve), without);
}

TEST(LastLevelCache, IsUnknownFromTooFewPoints) {
  EXPECT_EQ(last_level_cache_bytes({}), 0U);
  const std::vector<BandwidthPoint> three{
      {1 << 20, 900, 900, 900}, {1 << 22, 900, 900, 900}, {1 << 24, 9, 9, 9}};
  EXPECT_EQ(last_level_cache_bytes(three), 0U);
}

}  // namespace

}  // namespace assay
