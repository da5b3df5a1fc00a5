#include "harness/commands/tuning_files.h"

#include "harness/cases/expansion/load.h"
#include "harness/cases/tuning/impl_forms.h"
#include "harness/cases/tuning/tensor_names.h"
#include "harness/commands/run_options.h"
#include "ops/registry.h"
#include "tests/support/error_text.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

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

TEST(TuningFiles, AreToldInReportsWithoutThePathsOfTheMachine) {
  DeviceTuning found{.tuning = {}, .file = "tuning/acme.yaml", .is_shipped = true, .hash = "1", .note = {}};
  EXPECT_EQ(told_in_report(found), "tuning/acme.yaml");
  EXPECT_EQ(found.taken(), &found.tuning);
  found.file = "/somewhere/share/assay/tuning/acme.yaml";
  EXPECT_EQ(told_in_report(found), "acme.yaml");
  found.note = "made with the driver 1, and this is 2";
  found.is_ignored = true;
  EXPECT_EQ(told_in_report(found), "acme.yaml: not taken: made with the driver 1, and this is 2");
  EXPECT_EQ(found.taken(), nullptr);
  found.is_shipped = found.is_ignored = false;
  EXPECT_EQ(told_in_report(found),
            "/somewhere/share/assay/tuning/acme.yaml: made with the driver 1, and this is 2")
      << "as the command line names it";
}

TEST(TuningFiles, MayNameEveryTensorThatSomeCaseHas) {
  const Registry ops = ops::registry();
  const std::vector<fs::path> folder{fs::path(ASSAY_SOURCE_DIR) / "cases"};
  PossibleTensors possible;
  for (const Case& test_case : load_cases(folder, ops).cases) {
    if (test_case.op->chain) continue;
    const std::set<std::string>& names = possible.of(*test_case.op);
    for (const TensorSpec& tensor : *test_case.tensors)
      ASSERT_TRUE(names.empty() || names.contains(tensor.name)) << test_case.id << ' ' << tensor.name;
  }
  for (const Op& op : ops.ops()) EXPECT_FALSE(possible.of(op).empty()) << op.name;
}

/// The forms of a case, by tensor.
std::map<std::string, std::string> forms_by_tensor(const Case& test_case) {
  std::map<std::string, std::string> forms;
  for (std::size_t i = 0; i < test_case.forms.size(); ++i)
    forms[test_case.tensors[i].name] = to_string(test_case.forms[i]);
  return forms;
}

TEST(TuningFiles, MayNameTheFormsThatSomeCaseHas) {
  const Registry ops = ops::registry();
  const std::vector<fs::path> folder{fs::path(ASSAY_SOURCE_DIR) / "cases"};
  PossibleTensors possible;
  std::set<std::tuple<std::string, std::string, std::map<std::string, std::string>>> seen;
  for (const Case& test_case : load_cases(folder, ops).cases) {
    if (test_case.op->chain || test_case.invalid || test_case.conv2d.awaits_device) continue;
    const std::map<std::string, std::string> forms = forms_by_tensor(test_case);
    if (!seen.insert({test_case.op->name, test_case.impl->name, forms}).second) continue;
    for (std::size_t i = 0; i < test_case.forms.size(); ++i) {
      const std::set<Form>& accepted = possible.forms_of(*test_case.op, test_case.tensors[i].name);
      EXPECT_TRUE(accepted.empty() || accepted.contains(test_case.forms[i]))
          << test_case.id << ' ' << test_case.tensors[i].name;
    }
    if (test_case.impl->choose) continue;
    EXPECT_EQ(why_never_taken(*test_case.op, *test_case.impl, forms), std::nullopt) << test_case.id;
  }
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
