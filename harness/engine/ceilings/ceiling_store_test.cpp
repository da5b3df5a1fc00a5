#include "harness/engine/ceilings/ceiling_store.h"

#include "harness/base/hash.h"
#include "harness/report/journal/codec.h"
#include "tests/support/temporary_folder.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <limits>
#include <sys/stat.h>

namespace assay {
namespace {

using test::TemporaryFolder;

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
