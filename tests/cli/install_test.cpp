#include "tests/support/process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

// `cmake --install` into an empty prefix, and the binary from there.

namespace assay::test {
namespace {

using ::testing::HasSubstr;

TEST(Install, TheInstalledBinaryFindsItsCasesFromAnywhere) {
  const TemporaryFolder folder;
  const std::filesystem::path prefix = folder / "prefix";
  const ProcessResult installed =
      run({.words = {CMAKE_COMMAND, "--install", ASSAY_BUILD_DIR, "--prefix", prefix}});
  ASSERT_EQ(installed.exit_code, 0) << installed.out << installed.err;
  for (const char* file : {"share/assay/cases/q8ta_pixel_shuffle.yaml", "share/doc/assay/LICENSE"}) {
    EXPECT_TRUE(std::filesystem::exists(prefix / file)) << file;
  }

  const ProcessResult listed = run({.words = {prefix / "bin/assay", "list"}, .directory = folder.path()});
  EXPECT_EQ(listed.exit_code, 0) << listed.err;
  EXPECT_THAT(listed.out, HasSubstr("q8ta_pixel_shuffle/small/1x16x4x4/same/4W4C.4W4C/fused\n"));

  std::filesystem::remove_all(prefix / "share");
  const ProcessResult without = run({.words = {prefix / "bin/assay", "list"}, .directory = folder.path()});
  EXPECT_EQ(without.exit_code, 2);
  EXPECT_THAT(without.err, HasSubstr("looking for cases: there is no folder cases/ here"));
}

}  // namespace
}  // namespace assay::test
