#include "harness/device/device_info.h"

#include "harness/device/driver_name.h"
#include "harness/op/expected.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

namespace assay {
namespace {

TEST(DriverOf, IsItsNameAndVersion) {
  DeviceInfo device;
  device.driver_name = "Acme";
  EXPECT_EQ(driver_of(device), "Acme");
  device.driver_info = "12.3";
  EXPECT_EQ(driver_of(device), "Acme 12.3");
}

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

TimerCalibration good() {
  return {.quality = TimerQuality::Good,
          .note = {},
          .period_ns = 52.083332,
          .valid_bits = 36,
          .wrap_s = 3579,
          .step_ns = 52.083332,
          .pair_ns_p50 = 104.166664,
          .pair_ns_p95 = 1250,
          .unit_ns = 1250,
          .gpu_over_cpu = 1.00004,
          .cross_check = "calibrated timestamps"};
}

TEST(TimerCalibrationText, SaysWhatWasMeasured) {
  EXPECT_EQ(
      to_string(good()),
      "good: 52.0833 ns per tick, 36 bits, unit 1.25 us (step 52.08 ns, empty pair 104.2 ns, p95 1.25 us), "
      "1.0000 of the CPU's clock (calibrated timestamps)");
}

TEST(TimerCalibrationText, OfACoarseTimerIsInMilliseconds) {
  TimerCalibration timer = good();
  timer.step_ns = timer.unit_ns = 10e6;
  EXPECT_NE(to_string(timer).find("unit 10 ms (step 10 ms"), std::string::npos) << to_string(timer);
}

TEST(TimerCalibrationText, EndsWithWhatIsWrong) {
  TimerCalibration timer = good();
  timer.quality = TimerQuality::Broken;
  timer.note = "the counter went backwards";
  timer.cross_check.clear();
  EXPECT_EQ(
      to_string(timer),
      "broken: 52.0833 ns per tick, 36 bits, unit 1.25 us (step 52.08 ns, empty pair 104.2 ns, p95 1.25 "
      "us); the counter went backwards");
}

TEST(TimerCalibrationText, OfNoTimestampsIsTheNoteAlone) {
  EXPECT_EQ(
      to_string(TimerCalibration{.quality = TimerQuality::Broken, .note = "the queue has no timestamps"}),
      "broken: the queue has no timestamps");
}

TEST(DeviceInfoTest, EveryFeatureHasANameOfItsOwn) {
  constexpr int count = static_cast<int>(Feature::CooperativeMatrixNv) + 1;
  std::set<std::string_view> names;
  for (int i = 0; i < count; ++i) names.insert(name_of(static_cast<Feature>(i)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(count));
}

TEST(DeviceInfoTest, FeaturesAreCalledWhatVulkanCallsThem) {
  EXPECT_EQ(name_of(Feature::Storage8), "storageBuffer8BitAccess");
  EXPECT_EQ(name_of(Feature::Storage16), "storageBuffer16BitAccess");
  EXPECT_EQ(name_of(Feature::Float16), "shaderFloat16");
  EXPECT_EQ(name_of(Feature::DotProduct), "shaderIntegerDotProduct");
  EXPECT_EQ(name_of(Feature::CooperativeMatrixNv), "VK_NV_cooperative_matrix");
  EXPECT_EQ(name_of(Feature::UniformStorage8), "uniformAndStorageBuffer8BitAccess");
  EXPECT_EQ(name_of(Feature::SubgroupQuad), "subgroupQuad");
  EXPECT_EQ(name_of(Feature::MemoryModelDeviceScope), "vulkanMemoryModelDeviceScope");
}

TEST(DeviceInfoTest, ADeviceHasTheFeaturesThatAreListed) {
  DeviceInfo device;
  EXPECT_FALSE(device.has(Feature::Int8));
  device.features = {Feature::Storage8, Feature::Int8};
  EXPECT_TRUE(device.has(Feature::Int8));
  EXPECT_FALSE(device.has(Feature::Int16));
}

TEST(DeviceInfoTest, ADeviceOfTypeCpuIsOne) {
  DeviceInfo device;
  device.type = "integrated";
  EXPECT_FALSE(device.is_cpu());
  device.type = "cpu";
  EXPECT_TRUE(device.is_cpu());
}

TEST(DeviceInfoTest, ATextureIsFoundByItsStorageAndDtype) {
  DeviceInfo device;
  EXPECT_EQ(device.texture(Storage::Texture3D, DType::I8), nullptr);
  device.textures = {{Storage::Texture2D, DType::I8}, {Storage::Texture3D, DType::F16}};
  EXPECT_EQ(device.texture(Storage::Texture3D, DType::I8), nullptr);
  EXPECT_EQ(device.texture(Storage::Texture2D, DType::I8), &device.textures[0]);
  EXPECT_EQ(device.texture(Storage::Texture3D, DType::F16), &device.textures[1]);
}

TEST(ExpectedTest, OutputClassesHaveTheirNames) {
  EXPECT_EQ(name_of(OutputClass::Exact), "exact");
  EXPECT_EQ(name_of(OutputClass::Banded), "banded");
  EXPECT_EQ(name_of(OutputClass::Bounded), "bounded");
}

TEST(DeviceInfoTest, DemandsSubgroupsOfItsRangeThatAreFullAndNotTooMany) {
  DeviceInfo device;
  device.min_subgroup_size = 16;
  device.max_subgroup_size = 64;
  device.max_workgroup_subgroups = 8;
  EXPECT_FALSE(device.can_demand(32, {64, 1, 1})) << "without the feature";
  device.features = {Feature::FullSubgroups};
  EXPECT_TRUE(device.can_demand(32, {64, 1, 1}));
  EXPECT_TRUE(device.can_demand(16, {128, 1, 1}));
  EXPECT_FALSE(device.can_demand(16, {144, 1, 1})) << "nine subgroups";
  EXPECT_FALSE(device.can_demand(16, {64, 3, 1})) << "twelve";
  EXPECT_FALSE(device.can_demand(8, {64, 1, 1})) << "below the range";
  EXPECT_FALSE(device.can_demand(128, {128, 1, 1})) << "above it";
  EXPECT_FALSE(device.can_demand(48, {96, 1, 1})) << "no power of two";
  EXPECT_FALSE(device.can_demand(64, {32, 2, 1})) << "it does not divide the size along x";
}

TEST(DeviceInfoTest, KnowsTheSizeOfSubgroupsIfThereIsOneOrItMayBeDemanded) {
  DeviceInfo device;
  device.min_subgroup_size = device.max_subgroup_size = device.subgroup_size = 32;
  EXPECT_TRUE(device.has_one_subgroup_size());
  EXPECT_TRUE(device.knows_subgroup_size({48, 1, 1})) << "nothing is demanded";
  device.min_subgroup_size = 8;
  EXPECT_FALSE(device.has_one_subgroup_size());
  EXPECT_FALSE(device.knows_subgroup_size({64, 1, 1})) << "without the feature";
  device.features = {Feature::FullSubgroups};
  device.max_workgroup_subgroups = 8;
  EXPECT_TRUE(device.knows_subgroup_size({64, 1, 1}));
  EXPECT_FALSE(device.knows_subgroup_size({48, 1, 1})) << "the last one is not full";
}

TEST(DeviceInfoTest, ACooperativeShapeIsNamedByItsSidesAndTypes) {
  EXPECT_EQ(to_string(CooperativeShape{16, 8, 32, DType::I8, DType::I32}), "16x8x32 i8 to i32");
  EXPECT_EQ(to_string(CooperativeShape{16, 8, 32, DType::I8, DType::I32, MatrixExtension::Khr, true}),
            "16x8x32 i8 to i32, saturating");
}

}  // namespace

}  // namespace assay
