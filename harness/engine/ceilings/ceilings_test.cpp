#include "harness/engine/ceilings/ceilings.h"

#include "harness/base/hash.h"
#include "harness/report/journal/codec.h"
#include "tests/support/temporary_folder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <random>
#include <sys/stat.h>
#include <vector>

namespace assay {
namespace {

using test::TemporaryFolder;

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

Ceilings ceilings() {
  Ceilings made;
  made.device_uuid = "0123456789abcdef";
  made.driver = "NVIDIA 580.1";
  made.kernels = "feedbeef";
  made.measured_utc = "2026-01-02T03:04:05Z";
  made.bandwidth = {{64 << 10, 100.25, 200.5, 50.125}, {1 << 20, 101, 201, 51}};
  made.cache_bytes = 1 << 20;
  made.fp32_gops = 50000.1;
  made.dot4x8_gops = 90000;
  made.dispatch_us = 2.375;
  return made;
}

CeilingKey key_of(const Ceilings& made) {
  return {made.device_uuid, made.driver, made.kernels};
}

class CeilingStoreTest : public ::testing::Test {
 protected:
  TemporaryFolder folder;
  CeilingStore store{folder.path() / "below" / "ceilings"};
  Ceilings stored = ceilings();
  CeilingKey key = key_of(stored);
};

TEST_F(CeilingStoreTest, GivesBackWhatWasStored) {
  EXPECT_FALSE(store.load(key));
  store.store(stored);
  const auto found = store.load(key);
  ASSERT_TRUE(found);
  EXPECT_EQ(encode_ceilings(*found), encode_ceilings(stored));
  EXPECT_EQ(found->bandwidth.size(), 2U);
  EXPECT_EQ(found->bandwidth[0].write_gbps, 50.125);
}

TEST_F(CeilingStoreTest, LeavesOneFileAndTakesTheNewest) {
  store.store(stored);
  stored.fp32_gops = 60000;
  store.store(stored);
  EXPECT_EQ(store.load(key)->fp32_gops, 60000);
  const auto files = std::filesystem::directory_iterator(store.file_of(key).parent_path());
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
}

TEST_F(CeilingStoreTest, HasNoneForAnotherDeviceDriverOrKernels) {
  store.store(stored);
  for (std::string CeilingKey::*part :
       {&CeilingKey::device_uuid, &CeilingKey::driver, &CeilingKey::kernels}) {
    CeilingKey other = key;
    other.*part += "1";
    EXPECT_FALSE(store.load(other));
  }
  EXPECT_TRUE(store.load(key));
}

// By its name alone the file would be valid.
TEST_F(CeilingStoreTest, DoesNotTakeAFileWhoseContentNamesAnother) {
  store.store(stored);
  for (std::string Ceilings::*part : {&Ceilings::device_uuid, &Ceilings::driver, &Ceilings::kernels}) {
    Ceilings other = stored;
    other.*part += "1";
    store.store(other);
    test::write_file(store.file_of(key), test::read_file(store.file_of(key_of(other))));
    EXPECT_FALSE(store.load(key)) << other.*part;
  }
  store.store(stored);
  EXPECT_TRUE(store.load(key));
}

TEST_F(CeilingStoreTest, DoesNotTakeADamagedFile) {
  store.store(stored);
  const std::string whole = test::read_file(store.file_of(key));
  for (const std::string& damaged :
       {std::string(), whole.substr(0, whole.size() / 2), "x" + whole, std::string("{}"), std::string("[1]"),
        std::string("null"), std::string("\xff\xfe\x00", 3)}) {
    test::write_file(store.file_of(key), damaged);
    EXPECT_FALSE(store.load(key)) << damaged;
  }
}

// The figure is changed, but plausible.
TEST_F(CeilingStoreTest, DoesNotTakeWhatIsNoRegularFileOrTooLarge) {
  store.store(stored);
  std::filesystem::resize_file(store.file_of(key), std::uintmax_t{1} << 40);
  EXPECT_FALSE(store.load(key));
  std::filesystem::remove(store.file_of(key));
  ASSERT_EQ(::mkfifo(store.file_of(key).c_str(), 0600), 0);
  EXPECT_FALSE(store.load(key)) << "there is no writer to wait for";
  store.store(stored);
  EXPECT_TRUE(store.load(key));
}

TEST_F(CeilingStoreTest, DoesNotTakeNumbersThatNoDoubleHolds) {
  store.store(stored);
  std::string text = encode_ceilings(stored);
  text.replace(text.find("90000"), 5, "1e999");
  std::ofstream(store.file_of(key)) << "checksum " << hash_hex(text) << '\n' << text;
  EXPECT_FALSE(store.load(key)) << "it is measured again";
}

TEST_F(CeilingStoreTest, DoesNotTakeAChangedFigure) {
  store.store(stored);
  std::string text = test::read_file(store.file_of(key));
  const std::size_t at = text.find("90000");
  ASSERT_NE(at, std::string::npos);
  text[at] = '8';
  test::write_file(store.file_of(key), text);
  EXPECT_FALSE(store.load(key));
}

TEST(Disturbed, IsAGpuWhoseClockWasDown) {
  const DeviceInfo gpu{.type = "discrete"};
  EXPECT_EQ(disturbed({.clock_ratio = 0.98, .host_load = 0.9}, gpu), std::nullopt);
  EXPECT_EQ(disturbed({.clock_ratio = 0}, gpu), std::nullopt) << "without timestamps it is not known";
  EXPECT_EQ(disturbed({.clock_ratio = 0.6}, gpu),
            "the device's clock was at 60.0 % of its full clock, less than 97 %");
}

TEST(Disturbed, IsACpuThatHadOtherWork) {
  const DeviceInfo cpu{.type = "cpu"};
  EXPECT_EQ(disturbed({.clock_ratio = 0.6, .host_load = 0.05}, cpu), std::nullopt);
  EXPECT_EQ(disturbed({.host_load = 0.5}, cpu),
            "other processes used 50 % of the host's processors during the measurement, more than 10 %");
}

TEST_F(CeilingStoreTest, DoesNotTakeWhatCannotBeTrue) {
  const auto refuses = [&](const std::function<void(Ceilings&)>& change) {
    Ceilings changed = stored;
    change(changed);
    store.store(changed);
    return !store.load(key);
  };
  EXPECT_FALSE(refuses([](Ceilings&) {}));
  EXPECT_TRUE(refuses([](Ceilings& c) { c.bandwidth.clear(); }));
  EXPECT_TRUE(refuses([](Ceilings& c) { c.bandwidth[1].read_gbps = 0; }));
  EXPECT_TRUE(
      refuses([](Ceilings& c) { c.bandwidth[1].copy_gbps = std::numeric_limits<double>::infinity(); }));
  EXPECT_TRUE(refuses([](Ceilings& c) { std::swap(c.bandwidth[0], c.bandwidth[1]); }));
  EXPECT_TRUE(refuses([](Ceilings& c) { c.fp32_gops = -1; }));
  EXPECT_TRUE(refuses([](Ceilings& c) { c.dispatch_us = std::numeric_limits<double>::quiet_NaN(); }));
}

TEST_F(CeilingStoreTest, KeepsNothingWhereItCannotWrite) {
  folder.write("file", "in the way");
  const CeilingStore blocked(folder.path() / "file" / "below");
  blocked.store(stored);
  EXPECT_FALSE(blocked.load(key));
  const CeilingStore none{std::filesystem::path()};
  none.store(stored);
  EXPECT_FALSE(none.load(key));
}

class CeilingsForTest : public CeilingStoreTest {
 protected:
  gpu::Instance instance;
  gpu::Device device{instance, gpu::select_devices(instance.devices(), {}).front()};
  gpu::ShaderLibrary shaders;
  TimingTools tools{device, shaders};
  CeilingOptions small{.max_footprint_bytes = 1 << 20};
};

TEST_F(CeilingsForTest, AreTakenFromTheStoreUnlessTheyAreToBeMeasured) {
  Ceilings measured = ceilings_for(tools, shaders, store, CeilingPolicy::Measure, small);
  EXPECT_EQ(measured.device_uuid, device.info().uuid);
  EXPECT_EQ(measured.driver, ceilings_driver(device.info()));
  EXPECT_EQ(measured.kernels, ceilings_kernels(shaders));
  EXPECT_EQ(store.load(key_of(measured)).has_value(), !disturbed(measured, device.info()));

  // No device measures this value, so it can only come from the file.
  measured.fp32_gops = 123.456;
  measured.host_load = 0;
  store.store(measured);
  EXPECT_EQ(ceilings_for(tools, shaders, store, CeilingPolicy::Stored, small).fp32_gops, 123.456);
  EXPECT_NE(ceilings_for(tools, shaders, store, CeilingPolicy::Measure, small).fp32_gops, 123.456);

  test::write_file(store.file_of(key_of(measured)), "damaged");
  EXPECT_NE(ceilings_for(tools, shaders, store, CeilingPolicy::Stored, small).fp32_gops, 123.456);
}

TEST_F(CeilingsForTest, AreKnownWithoutMeasuringWhereTheStoreHasThem) {
  EXPECT_FALSE(stored_ceilings(device.info(), shaders, store));
  Ceilings made = stored;
  made.device_uuid = device.info().uuid;
  made.driver = ceilings_driver(device.info());
  made.kernels = ceilings_kernels(shaders);
  store.store(made);
  ASSERT_TRUE(stored_ceilings(device.info(), shaders, store));
  EXPECT_EQ(stored_ceilings(device.info(), shaders, store)->fp32_gops, made.fp32_gops);
  made.host_load = 0.5;
  made.clock_ratio = 0.5;
  store.store(made);
  EXPECT_FALSE(stored_ceilings(device.info(), shaders, store)) << "disturbed";
}

TEST_F(CeilingsForTest, AreNotTakenFromTheStoreWhenTheyWereDisturbed) {
  Ceilings measured = ceilings_for(tools, shaders, store, CeilingPolicy::Measure, small);
  measured.fp32_gops = 123.456;
  measured.host_load = 0.5;
  measured.clock_ratio = 0.5;
  store.store(measured);
  EXPECT_NE(ceilings_for(tools, shaders, store, CeilingPolicy::Stored, small).fp32_gops, 123.456);
}

// All runs of a night are compared with the same ceilings, whatever else the host did.
TEST_F(CeilingsForTest, AreTakenFromTheStoreOfANightThoughTheyWereDisturbed) {
  const CeilingStore night(folder / "night", KeptCeilings::All);
  Ceilings measured = ceilings_for(tools, shaders, night, CeilingPolicy::Stored, small);
  ASSERT_TRUE(night.load(key_of(measured)));
  measured.fp32_gops = 123.456;
  measured.host_load = 0.5;
  measured.clock_ratio = 0.5;
  ASSERT_TRUE(disturbed(measured, device.info()));
  night.store(measured);
  EXPECT_EQ(ceilings_for(tools, shaders, night, CeilingPolicy::Stored, small).fp32_gops, 123.456);
  EXPECT_EQ(stored_ceilings(device.info(), shaders, night).value().fp32_gops, 123.456);
}

}  // namespace

}  // namespace assay
