#include "tests/cli/sample_cases.h"
#include "tests/support/assay_binary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace assay::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

TEST(PruneCommand, RemovesJudgedNightsButForTheNewestAndTheLastGood) {
  const TemporaryFolder farm;
  const TemporaryFolder cases;
  for (const char* name : {"a", "b", "c"}) {
    const std::string night = farm / name;
    const bool is_good = std::string(name) == "a";
    ASSERT_NE(assay({"run", cases.write("c.yaml", is_good ? shuffle_cases : mistrusted_cases), "--ceilings",
                     "none", "--mode", "accu", "--out", night})
                  .exit_code,
              77);
    EXPECT_EQ(assay({"verdict", night}).exit_code, is_good ? 0 : 3)
        << "no row in common with the last good night";
  }
  const ProcessResult trial = assay({"prune", farm.path(), "--keep", "1", "--dry-run"});
  EXPECT_EQ(trial.exit_code, 0) << trial.err;
  EXPECT_TRUE(fs::exists(farm / "b"));
  const ProcessResult result = assay({"prune", farm.path(), "--keep", "1"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("points to it"));
  EXPECT_TRUE(fs::exists(farm / "a/nightly.json"));
  EXPECT_NE(fs::exists(farm / "b"), fs::exists(farm / "c")) << "they may have begun in the same second";
}

TEST(PruneCommand, WantsARule) {
  const TemporaryFolder farm;
  const ProcessResult result = assay({"prune", farm.path()});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("--older-than DAYS"));
  EXPECT_EQ(assay({"prune", farm.path(), "--keep", "0"}).exit_code, 2);
  EXPECT_EQ(assay({"prune", farm.path(), "--keep", "-1"}).exit_code, 2);
  EXPECT_THAT(assay({"prune", "--help"}).out, HasSubstr("Never removed:"));
}

}  // namespace
}  // namespace assay::test
