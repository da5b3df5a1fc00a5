#include "harness/report/journal/journal.h"
#include "tests/cli/sample_cases.h"
#include "tests/support/assay_binary.h"
#include "tests/support/process.h"
#include "tests/support/report_text.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace assay::test {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

namespace fs = std::filesystem;

/// The report of a run with one device.
RunReport report_of(const fs::path& out) {
  for (const auto& entry : fs::directory_iterator(out)) {
    if (entry.is_symlink()) return read_journal(entry.path() / "journal.jsonl");
  }
  return {};
}

TEST(AsIf, TheMinimumRunsEachSmokeCaseOrSaysWhichNumberItLacks) {
  const TemporaryFolder folder;
  const ProcessResult result = assay({"run", "--tier", "smoke", "--mode", "accu", "--validation", "--as-if",
                                      "vulkan_1_1_minimum", "--out", folder / "out"});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  const RunReport report = report_of(folder / "out");
  EXPECT_GT(report.records.size(), 100U);
  EXPECT_EQ(report.run.device.as_if, "vulkan_1_1_minimum");
  EXPECT_LE(report.run.device.max_workgroup_invocations, 128U);
  const std::string listed =
      assay({"list", "--tier", "smoke", "--mode", "accu", "--as-if", "vulkan_1_1_minimum"}).out;
  std::size_t passed = 0;
  for (const Record& record : report.records) {
    const bool was_to_run = listed.find(record.info.id + "  RUNS") != std::string::npos;
    EXPECT_EQ(was_to_run, record.status == Status::Pass) << record.info.id;
    if (record.status == Status::Pass) ++passed;
    if (record.status == Status::Pass) continue;
    EXPECT_EQ(record.status, Status::Unsupported) << record.info.id << ": " << record.reason;
    EXPECT_THAT(record.reason, testing::AnyOf(testing::ContainsRegex(" is [0-9]+"), EndsWith(" is missing")))
        << record.info.id;
  }
  EXPECT_GT(passed, report.records.size() / 2);
}

TEST(AsIf, ListSaysWhatRunsAndWhyTheRestDoesNot) {
  const TemporaryFolder folder;
  const std::string file = folder.write("c.yaml", shuffle_cases);
  const ProcessResult result = assay({"list", file, "--as-if", "vulkan_1_1_minimum"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("q8ta_pixel_shuffle/small/1x16x4x4/4W4C.4W4C/fused  RUNS\n"));
  EXPECT_EQ(result.err, "4 of 4 cases run with vulkan_1_1_minimum\n");
  const std::string large = R"(op: clone
cases: [{name: large, shape: [1, 1, 8192, 8192], dtype: f32, forms: {x: buffer/WP, y: buffer/WP}}]
)";
  const ProcessResult refused =
      assay({"list", folder.write("l.yaml", large), "--as-if", "vulkan_1_1_minimum"});
  EXPECT_THAT(refused.out, HasSubstr("  UNSUPPORTED: buffer 'x' needs 268437504 bytes, 2048 of them guards, "
                                     "maxStorageBufferRange is 134217728\n"))
      << refused.err;
  EXPECT_EQ(refused.err, "0 of 1 cases run with vulkan_1_1_minimum\n");
}

TEST(AsIf, ADevicesOwnProfileSaysWhatTheDeviceIs) {
  const TemporaryFolder folder;
  const std::string file = folder / "own.json";
  ASSERT_EQ(assay({"devices", "--device", "0", "--profile", file}).exit_code, 0);
  const std::string text = assay({"devices", "--device", "0"}).out;
  const std::string described = assay({"devices", "--as-if", file}).out;
  EXPECT_THAT(described, testing::StartsWith("own@"));
  for (const char* line : {"type ", "API ", "subgroup size", "shader cores", "int8 storage",
                           "int8 arithmetic", "fp16 storage", "fp16 arithmetic", "int8 dot product",
                           "cooperative matrix", "3D textures", "2D textures", "device memory"}) {
    const std::size_t at = text.find(std::string("    ") + line);
    ASSERT_NE(at, std::string::npos) << line;
    EXPECT_THAT(described, HasSubstr(text.substr(at, text.find('\n', at) - at + 1)));
  }
  EXPECT_EQ(assay({"devices", "--as-if", file, "--profile", "-"}).exit_code, 0);
}

TEST(AsIf, ReportsSayItAndAreNotComparedWithOthers) {
  const TemporaryFolder folder;
  const std::string cases = folder.write("c.yaml", shuffle_cases);
  const std::string filter = "*1x16x4x4/4W4C.4W4C*";
  ASSERT_EQ(assay({"run", cases, "--filter", filter, "--out", folder / "real"}).exit_code, 0);
  ASSERT_EQ(
      assay({"run", cases, "--filter", filter, "--out", folder / "profiled", "--as-if", "vulkan_1_1_minimum"})
          .exit_code,
      0);
  const RunReport report = report_of(folder / "profiled");
  EXPECT_THAT(report.run.device.name, EndsWith(" as vulkan_1_1_minimum"));
  ASSERT_EQ(report.records.size(), 1U);
  EXPECT_THAT(report.records[0].repro, HasSubstr("--as-if vulkan_1_1_minimum"));
  const ProcessResult compared = assay({"compare", folder / "real", folder / "profiled"});
  EXPECT_EQ(compared.exit_code, 2);
  EXPECT_THAT(compared.err, HasSubstr("with the limits of a profile (--as-if)"));
  // Nor can it be a profile itself.
  const ProcessResult again = assay({"devices", "--as-if", folder / "profiled"});
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_THAT(again.err, HasSubstr("it was run with a profile itself"));
  EXPECT_EQ(assay({"devices", "--as-if", folder / "real"}).exit_code, 0);
}

TEST(AsIf, RefusesWhatIsNoProfileBeforeAnythingRuns) {
  const TemporaryFolder folder;
  const std::string cases = folder.write("c.yaml", shuffle_cases);
  const std::string bad = folder.write("bad.json", R"({"capabilities": {"d": {"properties": 7}}})");
  for (const std::string command : {"run", "list"}) {
    const ProcessResult unknown = assay({command, cases, "--as-if", "no_such_device"});
    EXPECT_EQ(unknown.exit_code, 2);
    EXPECT_THAT(unknown.err, HasSubstr("looking for the device profile 'no_such_device'"));
    EXPECT_THAT(unknown.err, HasSubstr("vulkan_1_1_minimum, vulkan_roadmap_2022"));
    const ProcessResult refused = assay({command, cases, "--as-if", bad});
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.err, HasSubstr("/capabilities/d/properties is 7; it must be an object"));
  }
  EXPECT_EQ(assay({"list", cases, "--as-if", "/dev/zero"}).exit_code, 2);
}

TEST(AsIf, ShippedProfilesOfPublishedReportsAreThoseOfTheReports) {
  for (const auto& [name, report] : {std::pair{"lavapipe", "reports/published/lavapipe"},
                                     std::pair{"nvidia_h100", "reports/published/nvidia-h100/run.json"},
                                     std::pair{"nvidia_h200", "reports/published/nvidia-h200"}}) {
    nlohmann::json shipped = nlohmann::json::parse(assay({"devices", "--as-if", name, "--profile", "-"}).out);
    nlohmann::json now = nlohmann::json::parse(assay({"devices", "--as-if", report, "--profile", "-"}).out);
    for (nlohmann::json* one : {&shipped, &now}) {
      one->erase("profiles");  // they have other names
      one->at("capabilities")
          .at("device")
          .at("properties")
          .at("VkPhysicalDeviceProperties")
          .erase("deviceName");
    }
    EXPECT_EQ(shipped, now) << name << ": write it again with `assay devices --as-if " << report
                            << " --profile profiles/" << name << ".json`";
  }
}

}  // namespace
}  // namespace assay::test
