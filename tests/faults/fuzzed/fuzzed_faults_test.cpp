#include "tests/faults/seeded/fault_list.h"
#include "tests/support/assay_binary.h"
#include "tests/support/tree_shader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <vector>

// Each fault of faults.yaml is found by `assay fuzz` and made a case of a few lines; no written case shows
// it.

namespace assay::test {
namespace {

using ::testing::HasSubstr;

namespace fs = std::filesystem;

const fs::path fuzzed_faults = ASSAY_SOURCE_DIR "/tests/faults/fuzzed/faults.yaml";

/// Folder with the shaders that have these faults, several perhaps in one shader.
fs::path faulty_shaders(const TemporaryFolder& folder, const std::vector<SeededFault>& faults) {
  std::map<std::string, std::string> shaders;
  for (const SeededFault& fault : faults) {
    const auto [at, is_new] = shaders.try_emplace(fault.shader);
    if (is_new) at->second = tree_shader(fault.shader);
    at->second = with_fault(fault, at->second);
  }
  for (const auto& [name, text] : shaders) folder.write("shaders/" + name, text);
  return folder / "shaders";
}

/// The line of `text` with this word.
std::string line_with(const std::string& text, const std::string& word) {
  const std::size_t at = text.find(word);
  return at == std::string::npos ? "" : text.substr(at, text.find('\n', at) - at);
}

std::vector<fs::path> cases_found(const fs::path& out) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(out)) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  }
  return files;
}

class FuzzedFaults : public testing::TestWithParam<SeededFault> {};

TEST_P(FuzzedFaults, AreFoundAndShrunk) {
  const SeededFault& fault = GetParam();
  const TemporaryFolder folder;
  const std::string shaders = faulty_shaders(folder, {fault});
  // In CI the time is none that a busy machine exceeds: the same points are drawn, and these find it at once.
  const std::string seconds = fault.in_ci ? "200" : "60";
  const ProcessResult result = assay({"fuzz", fault.fuzzed_op, "--shaders", shaders, "--seconds", seconds,
                                      "--shrink-seconds", "600", "--seed", "1", "--out", folder / "out"});
  ASSERT_EQ(result.exit_code, 1) << result.out << result.err;
  const std::vector<fs::path> files = cases_found(folder / "out");
  ASSERT_FALSE(files.empty()) << result.out;
  for (const fs::path& file : files) {
    const std::string text = read_file(file);
    const std::string found = text.substr(text.find("op: "));
    const auto lines = std::ranges::count(found, '\n');
    EXPECT_LE(lines, 6) << found;
    EXPECT_THAT(result.out, HasSubstr(found));
    std::cout << line_with(result.out, "found after") << " " << lines << " lines\n" << found;
    std::vector<std::string> again{"run", file, "--out", folder / "again", "--overwrite"};
    EXPECT_EQ(assay(again).exit_code, 0) << "right without the fault: " << found;
    again.insert(again.end(), {"--shaders", shaders});
    EXPECT_EQ(assay(again).exit_code, 1) << found;
  }
}

/// Returns none if the list cannot be read: the test FuzzedFaultList says why.
std::vector<SeededFault> faults_to_fuzz(bool in_ci) {
  try {
    std::vector<SeededFault> faults = read_faults(fuzzed_faults);
    std::erase_if(faults, [in_ci](const SeededFault& fault) { return fault.in_ci != in_ci; });
    return faults;
  } catch (const std::runtime_error&) {
    return {};
  }
}

const auto name_of_fuzzed = [](const auto& fault) { return fault.param.name; };

INSTANTIATE_TEST_SUITE_P(Ci, FuzzedFaults, testing::ValuesIn(faults_to_fuzz(true)), name_of_fuzzed);
// `--gtest_also_run_disabled_tests` runs the others, too.
INSTANTIATE_TEST_SUITE_P(DISABLED_Rest, FuzzedFaults, testing::ValuesIn(faults_to_fuzz(false)),
                         name_of_fuzzed);

TEST(FuzzedFaultList, HasFaultsOfMostOpsOfWhichCiTriesThree) {
  const std::vector<SeededFault> faults = read_faults(fuzzed_faults);
  EXPECT_GE(faults.size(), 30U);
  EXPECT_EQ(std::ranges::count_if(faults, &SeededFault::in_ci), 3);
  std::set<std::string> ops;
  for (const SeededFault& fault : faults) {
    EXPECT_NE(fault.fuzzed_op, "") << fault.name;
    ops.insert(fault.fuzzed_op);
  }
  EXPECT_GE(ops.size(), 25U);
  const TemporaryFolder folder;
  EXPECT_NO_THROW(faulty_shaders(folder, faults)) << "the shaders are as the faults say";
}

class CaseFiles : public testing::TestWithParam<std::string> {};

// With all faults at once. A case that is changed to show one is a better case: the fault is then replaced.
TEST_P(CaseFiles, ShowNoneOfTheFaults) {
  const TemporaryFolder folder;
  const std::string shaders = faulty_shaders(folder, read_faults(fuzzed_faults));
  const std::string cases = ASSAY_SOURCE_DIR "/cases/" + GetParam() + ".yaml";
  const ProcessResult result = assay({"run", cases, "--mode", "accu", "--tier", "smoke", "--tier", "ci",
                                      "--shaders", shaders, "--out", folder / "out"});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
}

std::vector<std::string> ops_with_cases() {
  std::vector<std::string> ops;
  for (const auto& entry : fs::directory_iterator(ASSAY_SOURCE_DIR "/cases")) {
    if (entry.path().extension() == ".yaml") ops.push_back(entry.path().stem());
  }
  std::ranges::sort(ops);
  return ops;
}

INSTANTIATE_TEST_SUITE_P(DISABLED_Of, CaseFiles, testing::ValuesIn(ops_with_cases()),
                         [](const auto& op) { return op.param; });

}  // namespace
}  // namespace assay::test
