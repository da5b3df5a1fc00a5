#include "tests/support/temporary_folder.h"

#include <gtest/gtest.h>

namespace assay::test {
namespace {

TEST(TemporaryFolderTest, IsANewEmptyOneEachAndGoesWithItsFiles) {
  std::filesystem::path path;
  {
    const TemporaryFolder one, other;
    path = one.path();
    EXPECT_NE(one.path(), other.path());
    EXPECT_TRUE(std::filesystem::is_empty(path));
    EXPECT_EQ(one.write("a/b/c.txt", "text"), one / "a/b/c.txt");
    EXPECT_EQ(one.read("a/b/c.txt"), "text");
    EXPECT_EQ(one.read("none"), "");
    EXPECT_EQ(one.without_path("in " + (one / "x").string() + " and " + (one / "y").string()), "in x and y");
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace assay::test
