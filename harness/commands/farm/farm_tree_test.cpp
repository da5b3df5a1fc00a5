#include "harness/commands/farm/farm_tree.h"

#include "tests/support/temporary_folder.h"

#include <gtest/gtest.h>

namespace assay::app {
namespace {

namespace fs = std::filesystem;

TEST(DiskUse, SumsFilesAndFollowsNoLink) {
  const test::TemporaryFolder folder;
  folder.write("night/a", "12345");
  folder.write("night/below/b c", "1234567");
  folder.write("elsewhere/large", std::string(1000, 'x'));
  fs::create_directory_symlink(folder / "elsewhere", folder / "night/link");
  fs::create_symlink("no/such/file", folder / "night/dangling");
  fs::create_directory_symlink(folder / "night", folder / "night/loop");
  EXPECT_EQ(bytes_below(folder / "night"), 12U);
  EXPECT_EQ(bytes_below(folder / "nowhere"), 0U);
}

TEST(DiskUse, KnowsWhatIsFree) {
  EXPECT_GT(free_bytes(test::TemporaryFolder().path().parent_path()).value_or(0), 0U);
  EXPECT_FALSE(free_bytes("/no/such/folder"));
}

}  // namespace
}  // namespace assay::app
