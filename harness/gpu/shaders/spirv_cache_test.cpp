#include "harness/gpu/shaders/spirv_cache.h"

#include "harness/base/source_hash.h"
#include "tests/support/gpu.h"

#include <sys/stat.h>

namespace assay::gpu {
namespace {

using namespace test;

namespace fs = std::filesystem;

class SpirvCacheTest : public ::testing::Test {
 protected:
  TemporaryFolder directory;
  SpirvCache cache{directory.path() / "deep" / "inside"};
  const std::string key = source_hash("key");
  const std::vector<std::uint32_t> module{0x07230203, 1, 2, 3, 0xFFFFFFFF};
};

TEST_F(SpirvCacheTest, GivesBackWhatWasStored) {
  EXPECT_EQ(cache.load(key), std::nullopt);
  cache.store(key, module);
  EXPECT_EQ(cache.load(key), module);
  cache.store(key, {1, 2});
  EXPECT_EQ(cache.load(key), (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(std::distance(fs::directory_iterator(cache.file_of(key).parent_path()), {}), 1)
      << "a temporary file was left behind";
}

TEST_F(SpirvCacheTest, DistrustsEveryFlippedByte) {
  cache.store(key, module);
  const std::string good = read_file(cache.file_of(key));
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x40);
    write_file(cache.file_of(key), bad);
    EXPECT_EQ(cache.load(key), std::nullopt) << "byte " << i;
  }
}

TEST_F(SpirvCacheTest, DistrustsEveryTruncationAndTail) {
  cache.store(key, module);
  const std::string good = read_file(cache.file_of(key));
  for (std::size_t length = 0; length < good.size(); ++length) {
    write_file(cache.file_of(key), good.substr(0, length));
    EXPECT_EQ(cache.load(key), std::nullopt) << length << " bytes";
  }
  write_file(cache.file_of(key), good + "more");
  EXPECT_EQ(cache.load(key), std::nullopt);
}

TEST_F(SpirvCacheTest, DistrustsTheEntryOfAnotherKey) {
  const std::string other = source_hash("other");
  cache.store(other, module);
  fs::rename(cache.file_of(other), cache.file_of(key));
  EXPECT_EQ(cache.load(key), std::nullopt);
}

TEST_F(SpirvCacheTest, AClaimOfManyWordsAllocatesNothing) {
  cache.store(key, module);
  std::string huge = read_file(cache.file_of(key));
  huge.replace(12, 4, "\xff\xff\xff\xff", 4);
  write_file(cache.file_of(key), huge);
  EXPECT_EQ(cache.load(key), std::nullopt);
}

TEST_F(SpirvCacheTest, DoesNotReadWhatIsNoRegularFileOrTooLarge) {
  cache.store(key, module);
  fs::resize_file(cache.file_of(key), std::uintmax_t{1} << 40);
  EXPECT_EQ(cache.load(key), std::nullopt);
  fs::remove(cache.file_of(key));
  ASSERT_EQ(::mkfifo(cache.file_of(key).c_str(), 0600), 0);
  EXPECT_EQ(cache.load(key), std::nullopt) << "there is no writer to wait for";
  cache.store(key, module);
  EXPECT_EQ(cache.load(key), module);
}

TEST_F(SpirvCacheTest, ADirectoryThatCannotBeMadeIsNoError) {
  const SpirvCache nowhere(directory.write("file", "in the way") / "cache");
  EXPECT_NO_THROW(nowhere.store(key, module));
  EXPECT_EQ(nowhere.load(key), std::nullopt);
}

}  // namespace
}  // namespace assay::gpu
