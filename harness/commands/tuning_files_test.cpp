#include "harness/commands/tuning_files.h"

#include "harness/commands/run_options.h"
#include "ops/registry.h"
#include "tests/support/error_text.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace assay::app {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

DeviceInfo device_named(const std::string& name) {
  DeviceInfo device;
  device.name = name;
  device.driver_name = "Acme";
  device.driver_info = "1.2";
  return device;
}

TEST(TuningFiles, ThatAreShippedAreReadAndNamedAfterTheirDevice) {
  const Registry ops = ops::registry();
  for (const auto& entry : fs::directory_iterator(fs::path(ASSAY_SOURCE_DIR) / "tuning")) {
    if (entry.path().extension() != ".yaml") continue;
    const TuningResult read = load_tuning(entry.path(), ops);
    ASSERT_TRUE(read.tuning) << to_string(read.errors.at(0));
    EXPECT_EQ(tuning_file_name(device_named(read.tuning->device)), entry.path().filename());
  }
}

TEST(TuningFiles, SayThatTheyWereMadeElsewhere) {
  const Registry ops({});
  const test::TemporaryFolder folder;
  const std::string file = folder.write("t.yaml", "device: GPU 9\ndriver: Acme 1.2\nentries: []\n");
  const auto note = [&](const DeviceInfo& device) { return tuning_for(file, device, ops)->note; };
  EXPECT_EQ(note(device_named("GPU 9")), "");
  EXPECT_EQ(note(device_named("GPU 8")), "made on GPU 9, and this is GPU 8");
  DeviceInfo newer = device_named("GPU 9");
  newer.driver_info = "1.3";
  EXPECT_EQ(note(newer), "made with the driver Acme 1.2, and this is Acme 1.3");
  EXPECT_FALSE(tuning_for("none", newer, ops));
  EXPECT_FALSE(tuning_for("auto", device_named("no such device"), ops));
  EXPECT_EQ(tuning_file_name(device_named("NVIDIA H100 80GB HBM3")), "nvidia-h100-80gb-hbm3.yaml");
}

TEST(TuningFiles, AreNotForNodesOfChains) {
  RunOptions options;
  EXPECT_EQ(tuning_of(options), "auto");
  options.cases.nodes = true;
  EXPECT_EQ(tuning_of(options), "none");
  options.tuning = "t.yaml";
  EXPECT_THAT(test::error_of([&] { tuning_of(options); }), HasSubstr("leave --tuning out"));
}

TEST(TuningFiles, HaveAnotherHashAfterAnEdit) {
  const Registry ops({});
  const test::TemporaryFolder folder;
  const auto hash = [&](const std::string& text) {
    return tuning_for(folder.write("t.yaml", text), device_named("GPU"), ops)->hash;
  };
  const std::string before = hash("device: GPU\nentries: []\n");
  EXPECT_EQ(hash("device: GPU\nentries: []\n"), before);
  EXPECT_NE(hash("device: GPU\nentries: []\n# edited\n"), before);
}

TEST(TuningFiles, AreRefusedWithTheirErrors) {
  const Registry ops({});
  const test::TemporaryFolder folder;
  const std::string file = folder.write("t.yaml", "entries: []\n");
  EXPECT_THAT(test::error_of([&] { check_named_tuning(file, ops); }),
              HasSubstr("t.yaml:1:1: error: the file has no 'device'"));
  EXPECT_THAT(test::error_of([&] { check_named_tuning(folder / "none.yaml", ops); }),
              HasSubstr("no such file"));
  EXPECT_THAT(test::error_of([&] { check_named_tuning("", ops); }),
              HasSubstr("--tuning is empty; give auto, none or a file"));
  check_named_tuning("none", ops);
  check_named_tuning("auto", ops);
}

}  // namespace
}  // namespace assay::app
