#include "tests/cli/sample_cases.h"
#include "tests/support/assay_binary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>

// Nights of `assay run`, and what `assay verdict` says of them.

namespace assay::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class VerdictCommand : public ::testing::Test {
 protected:
  /// One device's night of these cases.
  std::string night(const std::string& name, const std::string& cases) {
    const std::string out = farm / name;
    const ProcessResult result =
        assay({"run", farm.write("cases.yaml", cases), "--ceilings", "none", "--out", out});
    EXPECT_NE(result.exit_code, 77) << result.err;
    return out;
  }

  TemporaryFolder farm;
};

TEST_F(VerdictCommand, HoldsANightAgainstTheLastGoodOne) {
  const std::string first = night("first", shuffle_cases);
  ProcessResult result = assay({"verdict", first});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_THAT(result.out, StartsWith("GOOD: first, 1 of 1 device good\n"));

  // Rows of the first night are gone, and one proves nothing.
  const std::string second =
      night("second", std::string(mistrusted_cases) +
                          std::string(shuffle_cases).substr(std::string(shuffle_cases).find("  - name")));
  result = assay({"verdict", second});
  EXPECT_EQ(result.exit_code, 1) << result.out << result.err;
  EXPECT_THAT(result.out, StartsWith("FAILURES: second, 0 of 1 device good, 1 row failed\n"));
  EXPECT_THAT(result.out, HasSubstr("4 SAME"));

  const auto json = nlohmann::json::parse(read_file(fs::path(second) / "nightly.json"));
  EXPECT_EQ(json.at("exit_code"), 1);
  const auto& device = json.at("devices").at(0);
  EXPECT_TRUE(fs::exists(fs::path(second) / device.at("report").get<std::string>() / "journal.jsonl"));
  EXPECT_EQ(device.at("failures").at(0).at("status"), "MISTRUSTED");
  EXPECT_EQ(device.at("comparison").at("totals").at("SAME"), 4);
  EXPECT_EQ(fs::canonical(fs::path(second) / device.at("last_good").at("report").get<std::string>()),
            fs::canonical(fs::path(first) / device.at("slug").get<std::string>()));
  EXPECT_EQ(read_file(fs::path(second) / "verdict.txt"), result.out);
}

TEST_F(VerdictCommand, AppendsToGithubsSummaryAsRunAndReportDo) {
  const std::string summary = farm.write("summary.md", "before\n"), out = farm / "night";
  ProcessResult result = assay({"run", farm.write("cases.yaml", mistrusted_cases), "--ceilings", "none",
                                "--out", out, "--github-summary", summary});
  EXPECT_EQ(result.exit_code, 1) << result.err;
  const std::string after_run = read_file(summary);
  EXPECT_THAT(after_run, StartsWith("before\n## assay run\n\n0 fine, **1 failed**\n"));
  EXPECT_THAT(after_run, HasSubstr("| MISTRUSTED | `q8ta_pixel_shuffle/flat/"));
  EXPECT_EQ(assay({"report", out, "--github-summary", summary}).exit_code, 1);
  EXPECT_THAT(read_file(summary), StartsWith(after_run + "## assay report\n"));
  EXPECT_EQ(assay({"verdict", out, "--github-summary", summary}).exit_code, 1);
  EXPECT_THAT(read_file(summary), HasSubstr("\n## Night night\n\n**FAILURES**: 0 of 1 devices good\n"));
  result = assay({"report", out, "--github-summary", "/no/such/folder/summary.md"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("/no/such/folder/summary.md"));
}

TEST_F(VerdictCommand, TakesTheNightAfterOptionsThatMayBeRepeated) {
  const std::string first = night("first", shuffle_cases);
  for (const char* option : {"--accept", "--expect-slug"}) {
    const ProcessResult result = assay({"verdict", option, "all", first});
    EXPECT_THAT(result.out, HasSubstr(": first, 1 of ")) << option << ": " << result.err;
  }
  EXPECT_EQ(assay({"verdict", "--accept", "all", first}).exit_code, 0);
}

TEST_F(VerdictCommand, WantsANight) {
  EXPECT_EQ(assay({"verdict"}).exit_code, 2);
  const ProcessResult result = assay({"verdict", farm / "nowhere"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("nowhere cannot be found"));
  EXPECT_THAT(assay({"verdict", "--help"}).out, HasSubstr("Exit code: 0 every device is good"));
}

TEST_F(VerdictCommand, SaysSoWhenItCannotWrite) {
  const std::string first = night("first", shuffle_cases);
  fs::create_directory(fs::path(first) / "nightly.json");
  const ProcessResult result = assay({"verdict", first});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("nightly.json"));
  EXPECT_THAT(result.out, StartsWith("GOOD: first"));
  EXPECT_FALSE(fs::exists(farm / "last-good"));
}

}  // namespace
}  // namespace assay::test
