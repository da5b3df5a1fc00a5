#include "harness/app/judge/fuzz.h"

#include "harness/app/judge/case_yaml.h"
#include "harness/app/judge/judged_cases.h"
#include "harness/app/run_devices.h"
#include "harness/cases/load.h"
#include "harness/engine/accuracy/data_set.h"
#include "ops/registry.h"
#include "tests/support/temporary_folder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>

namespace assay::app {
namespace {

const Registry& registry() {
  static const Registry made = ops::registry();
  return made;
}

const std::vector<Case>& repository() {
  static const LoadResult loaded =
      load_cases(std::array{std::filesystem::path(ASSAY_SOURCE_DIR "/cases")}, registry());
  return loaded.cases;
}

/// Every third case of an op whose data and answers do not come from files, up to a limit.
std::map<std::string, std::vector<const Case*>> sample(std::size_t most) {
  std::map<std::string, std::vector<const Case*>> by_op;
  std::size_t number = 0;
  for (const Case& one : repository()) {
    std::vector<const Case*>& cases = by_op[one.op->name];
    if (number++ % 3 == 0 && cases.size() < most && has_secret_data(one) && one.seed == 0)
      cases.push_back(&one);
  }
  return by_op;
}

TEST(CaseYaml, IsReadAsTheCaseThatItWasWrittenFrom) {
  const test::TemporaryFolder folder;
  for (const auto& [op, cases] : sample(60)) {
    std::string text = fmt::format("op: {}\ncases:\n", op);
    for (std::size_t i = 0; i < cases.size(); ++i)
      text += case_yaml(*cases[i], *cases[i]->params, fmt::format("c{}", i));
    const LoadResult read =
        load_cases(std::array{std::filesystem::path(folder.write(op + ".yaml", text))}, registry());
    ASSERT_TRUE(read.errors.empty()) << op << ": " << to_string(read.errors.front());
    ASSERT_EQ(read.cases.size(), cases.size());
    for (std::size_t i = 0; i < cases.size(); ++i) {
      EXPECT_EQ(read.cases[i].data_key, cases[i]->data_key) << cases[i]->id;
      EXPECT_EQ(read.cases[i].impl, cases[i]->impl);
      EXPECT_EQ(read.cases[i].forms, cases[i]->forms) << cases[i]->id;
      EXPECT_EQ(read.cases[i].conv2d, cases[i]->conv2d) << cases[i]->id;
      EXPECT_EQ(read.cases[i].tune, cases[i]->tune) << cases[i]->id;
    }
  }
}

class FuzzedCasesTest : public testing::Test {
 protected:
  /// A submission that changes the shaders of all ops.
  FuzzedCasesTest() {
    for (const auto& entry : std::filesystem::directory_iterator(ASSAY_SOURCE_DIR "/shaders")) {
      if (entry.path().extension() != ".comp") continue;
      const std::string name = entry.path().filename().string();
      folder.write("mine/" + name, test::read_file(entry.path()) + "// mine\n");
      submission.files.push_back(name);
    }
    submission.folder = folder / "mine";
    device = RunDevices(RunOptions{}).opened().front().info;
  }

  FuzzedCases fuzzed(const std::string& op, std::uint64_t seed, const std::string& name = "fuzz") {
    ShaderUse use(submission, device);
    return fuzzed_cases(cases_of(op), registry(), use, 6, seed, folder / name);
  }

  std::vector<const Case*> cases_of(const std::string& op) const {
    std::vector<const Case*> cases;
    for (const Case& one : repository()) {
      if (one.op->name == op) cases.push_back(&one);
    }
    return cases;
  }

  test::TemporaryFolder folder;
  Submission submission;
  DeviceInfo device;
};

TEST_F(FuzzedCasesTest, ThereAreSomeOfEveryOp) {
  for (const Op& op : registry().ops()) {
    const FuzzedCases made = fuzzed(op.name, 5);
    EXPECT_GE(made.ids.size(), 4U) << op.name;
    ASSERT_EQ(made.files.size(), 1U) << op.name;
    const LoadResult read = load_cases(made.files, registry());
    EXPECT_TRUE(read.errors.empty()) << op.name;
    for (const Case& one : read.cases) {
      EXPECT_FALSE(one.invalid) << one.id;
      EXPECT_LE(elements_of(one), 1 << 18) << one.id;
      EXPECT_TRUE(std::ranges::none_of(
          repository(),
          [&](const Case& other) { return other.data_key == one.data_key && other.op == one.op; }))
          << one.id << " is a case of the repository";
    }
  }
}

TEST_F(FuzzedCasesTest, AreThoseOfTheirSeed) {
  const FuzzedCases once = fuzzed("q8ta_add", 9, "once");
  const FuzzedCases again = fuzzed("q8ta_add", 9, "again");
  const FuzzedCases other = fuzzed("q8ta_add", 10, "other");
  EXPECT_EQ(test::read_file(once.files.at(0)), test::read_file(again.files.at(0)));
  EXPECT_NE(test::read_file(once.files.at(0)), test::read_file(other.files.at(0)));
}

TEST_F(FuzzedCasesTest, AreOfWhatTheSubmissionMattersFor) {
  submission.folder = folder / "relu";
  folder.write("relu/q8ta_relu.comp", "// mine\n");
  ShaderUse use(submission, device);
  EXPECT_TRUE(fuzzed_cases(cases_of("q8ta_add"), registry(), use, 4, 1, folder / "none").ids.empty());
  EXPECT_FALSE(fuzzed_cases(cases_of("q8ta_relu"), registry(), use, 4, 1, folder / "some").ids.empty());
}

}  // namespace
}  // namespace assay::app
