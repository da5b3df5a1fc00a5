#include "harness/gpu/device/driver_cache.h"

#include "harness/gpu/device/device.h"
#include "tests/support/gpu.h"

#include <cstring>

namespace assay::gpu {
namespace {

namespace fs = std::filesystem;

class DriverCacheTest : public ::testing::Test {
 protected:
  static std::vector<std::byte> bytes(const std::string& text) {
    std::vector<std::byte> made(text.size());
    std::memcpy(made.data(), text.data(), text.size());
    return made;
  }

  test::TemporaryFolder directory;
  const std::vector<std::byte> data = bytes("what a driver compiled");
  DriverCacheFile cache{directory.path() / "deep" / "inside", "a device and its driver"};
};

TEST_F(DriverCacheTest, GivesBackWhatWasStoredLast) {
  EXPECT_EQ(cache.load(), std::nullopt);
  cache.store(data);
  EXPECT_EQ(cache.load(), data);
  cache.store(bytes("more"));
  EXPECT_EQ(cache.load(), bytes("more"));
  EXPECT_EQ(std::distance(fs::directory_iterator(cache.file().parent_path()), {}), 1)
      << "a temporary file was left behind";
}

TEST_F(DriverCacheTest, DistrustsEveryFlippedByteAndReplacesTheFile) {
  cache.store(data);
  const std::string good = test::read_file(cache.file());
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x40);
    test::write_file(cache.file(), bad);
    EXPECT_EQ(cache.load(), std::nullopt) << "byte " << i;
  }
  cache.store(data);
  EXPECT_EQ(cache.load(), data);
}

TEST_F(DriverCacheTest, DistrustsEveryTruncationAndTail) {
  cache.store(data);
  const std::string good = test::read_file(cache.file());
  for (std::size_t length = 0; length < good.size(); ++length) {
    test::write_file(cache.file(), good.substr(0, length));
    EXPECT_EQ(cache.load(), std::nullopt) << length << " bytes";
  }
  test::write_file(cache.file(), good + "more");
  EXPECT_EQ(cache.load(), std::nullopt);
}

TEST_F(DriverCacheTest, DistrustsTheFileOfAnotherDriver) {
  const DriverCacheFile other(cache.file().parent_path(), "the same device and another driver");
  other.store(data);
  EXPECT_NE(other.file(), cache.file());
  fs::rename(other.file(), cache.file());
  EXPECT_EQ(cache.load(), std::nullopt);
}

TEST_F(DriverCacheTest, StartsAnewWhereThereIsTooMuch) {
  cache.store(data);
  const DriverCacheFile small(cache.file().parent_path(), "a device and its driver", data.size() - 1);
  EXPECT_EQ(small.load(), std::nullopt);
  small.store(data);
  EXPECT_FALSE(fs::exists(cache.file()));
}

TEST_F(DriverCacheTest, ADirectoryThatCannotBeMadeIsNoError) {
  const DriverCacheFile nowhere(directory.write("file", "in the way") / "cache", "a device");
  EXPECT_NO_THROW(nowhere.store(data));
  EXPECT_EQ(nowhere.load(), std::nullopt);
}

class KeptPipelinesTest : public test::GpuTest {};

/// Mesa's lavapipe returns a header and nothing else.
TEST_F(KeptPipelinesTest, ADriverThatKeepsNothingLeavesNoFile) {
  Device own(instance(), 0);
  if (!own.info().is_cpu()) GTEST_SKIP() << "drivers of GPUs keep something";
  own.keep_pipelines_in(directory.path() / "pipelines");
  own.save_pipelines();
  EXPECT_FALSE(fs::exists(directory.path() / "pipelines"));
}

TEST_F(KeptPipelinesTest, ADeviceTakesWhatItsDriverGave) {
  Device own(instance(), 0);
  const DriverCacheFile file(directory.path(), own.state().physical.cache_identity);
  file.store(own.state().pipeline_data());
  own.keep_pipelines_in(directory.path());
  EXPECT_EQ(own.state().kept_bytes, own.state().pipeline_data().size());
}

TEST_F(KeptPipelinesTest, AFileOfNothingKnownIsPassedOver) {
  Device own(instance(), 0);
  const DriverCacheFile file(directory.path(), own.state().physical.cache_identity);
  directory.write(file.file().filename().string(), "no cache");
  EXPECT_NO_THROW(own.keep_pipelines_in(directory.path()));
  EXPECT_TRUE(own.state().pipeline_cache);
}

}  // namespace
}  // namespace assay::gpu
