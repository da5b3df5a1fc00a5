#include "tests/support/assay_binary.h"
#include "tests/support/tree_shader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

// `assay fuzz`.

namespace assay::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

namespace fs = std::filesystem;

std::vector<fs::path> case_files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  }
  return files;
}

/// The kernel with a fault that no size of up to 16 words shows, and none that is a multiple of four words.
std::string relu_with_a_wrong_tail() {
  std::string text = tree_shader("q8ta_relu.comp");
  const std::string right = "rectified(words[k]);";
  text.replace(text.rfind(right), right.size(),
               "rectified(words[k]) ^ (WHOLE_QUADS == 0 && vector_at(k) > 16u ? 1u : 0u);");
  return text;
}

TEST(Fuzz, FindsAFaultInATailAndShrinksItToACaseThatFails) {
  const TemporaryFolder folder;
  folder.write("broken/q8ta_relu.comp", relu_with_a_wrong_tail());
  const ProcessResult found = assay({"fuzz", "q8ta_relu", "--seconds", "600", "--shrink-seconds", "600",
                                     "--seed", "1", "--out", folder / "out", "--shaders", folder / "broken"});
  ASSERT_EQ(found.exit_code, 1) << found.out << found.err;
  const std::vector<fs::path> files = case_files_in(folder / "out");
  ASSERT_EQ(files.size(), 1U);
  const std::string text = read_file(files.front());
  EXPECT_LE(std::ranges::count(text, '\n'), 6) << text;
  EXPECT_THAT(found.out, HasSubstr(text.substr(text.find("op: "))));
  EXPECT_THAT(found.out, HasSubstr("assay run " + files.front().string() + " --shaders "));
  std::vector<std::string> words{"run", files.front(), "--out", folder / "again", "--overwrite"};
  EXPECT_EQ(assay(words).exit_code, 0) << "right with the embedded kernel: " << text;
  words.insert(words.end(), {"--shaders", folder / "broken"});
  EXPECT_EQ(assay(words).exit_code, 1) << text;
}

TEST(Fuzz, ShowsTheLinesOfACompilersErrors) {
  const TemporaryFolder folder;
  folder.write("broken/q8ta_relu.comp", tree_shader("q8ta_relu.comp") + "\nfirst error;\nsecond error;\n");
  const ProcessResult found =
      assay({"fuzz", "q8ta_relu", "--points", "1", "--seed", "1", "--seconds", "600", "--shrink-seconds", "1",
             "--out", folder / "out", "--shaders", folder / "broken"});
  EXPECT_EQ(found.exit_code, 1) << found.err;
  EXPECT_THAT(found.out, HasSubstr("syntax error")) << found.err;
  EXPECT_THAT(found.out, Not(HasSubstr("\\x0a")));
}

TEST(Fuzz, FindsNothingInARightKernel) {
  const TemporaryFolder folder;
  const ProcessResult result = assay(
      {"fuzz", "q8ta_clone", "--points", "5", "--seconds", "600", "--seed", "2", "--out", folder / "out"});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("fuzz: 5 points "));
  EXPECT_THAT(result.out, HasSubstr(" PASS"));
  EXPECT_THAT(result.out, HasSubstr("seed 2"));
  EXPECT_TRUE(fs::is_empty(folder / "out")) << "a folder for nothing";
}

TEST(Fuzz, EndsWellBeforeItHasADevice) {
  const TemporaryFolder folder;
  const ProcessResult result =
      assay({"fuzz", "q8ta_clone", "--seconds", "0.001", "--seed", "2", "--out", folder / "out"});
  EXPECT_EQ(result.exit_code, 2) << "it showed nothing: " << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("fuzz: 0 points"));
}

/// Nothing was said: the embedded kernel had no failure.
TEST(Fuzz, RefusesAFolderThatReplacesNoShader) {
  const TemporaryFolder folder;
  folder.write("mine/q8ta_rleu.comp", tree_shader("q8ta_relu.comp"));
  const ProcessResult result =
      assay({"fuzz", "q8ta_relu", "--points", "5", "--out", folder / "out", "--shaders", folder / "mine"});
  EXPECT_EQ(result.exit_code, 2) << result.out << result.err;
  EXPECT_THAT(result.err, HasSubstr("none of its files replaces one of assay's. It holds: q8ta_rleu.comp;"));
  EXPECT_EQ(result.out, "");
  EXPECT_FALSE(fs::exists(folder / "out"));
}

/// Such points show nothing about the folder; a batch without one of its kernels is no error.
TEST(Fuzz, KnowsWhetherAPointUsedTheFolderOfShaders) {
  const TemporaryFolder folder;
  folder.write("mine/q8ta_relu.comp", tree_shader("q8ta_relu.comp"));
  const auto fuzz = [&](const std::string& op, const std::string& points) {
    return assay({"fuzz", op, "--points", points, "--seconds", "600", "--seed", "2", "--out", folder / "out",
                  "--shaders", folder / "mine"});
  };
  const ProcessResult other = fuzz("q8ta_clone", "5");
  EXPECT_EQ(other.exit_code, 2) << other.out << other.err;
  EXPECT_THAT(other.out, HasSubstr(" PASS"));
  EXPECT_THAT(other.err, HasSubstr("no point used a file of --shaders '"));
  const ProcessResult same = fuzz("q8ta_relu", "200");
  EXPECT_EQ(same.exit_code, 0) << same.out << same.err;
  EXPECT_THAT(same.err, Not(HasSubstr("no point used")));
}

/// The kernels of all ops were looked up in the folder, also those that no chosen op runs.
TEST(Fuzz, TakesAFolderWithABackupOfAKernelThatDoesNotRun) {
  const TemporaryFolder folder;
  folder.write("mine/relayout.comp", tree_shader("relayout.comp"));
  folder.write("mine/a/q8ta_relu.comp", tree_shader("q8ta_relu.comp"));
  folder.write("mine/old/q8ta_relu.comp", tree_shader("q8ta_relu.comp"));
  const ProcessResult result = assay({"fuzz", "q8ta_clone", "--points", "5", "--seconds", "600", "--seed",
                                      "2", "--out", folder / "out", "--shaders", folder / "mine"});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr(" PASS"));
}

/// A kernel that does run has no backup in the folder.
TEST(Fuzz, RefusesAFolderWithABackupOfAKernelThatRuns) {
  const TemporaryFolder folder;
  folder.write("mine/a/relayout.comp", tree_shader("relayout.comp"));
  folder.write("mine/old/relayout.comp", tree_shader("relayout.comp"));
  const ProcessResult result = assay({"fuzz", "q8ta_clone", "--points", "5", "--seconds", "600", "--seed",
                                      "2", "--out", folder / "out", "--shaders", folder / "mine"});
  EXPECT_EQ(result.exit_code, 2) << result.out << result.err;
  EXPECT_THAT(result.err, HasSubstr("have the same file name"));
}

TEST(Fuzz, RefusesAnOpThatDoesNotExist) {
  const TemporaryFolder folder;
  const ProcessResult result = assay({"fuzz", "q8ta_rleu", "--out", folder / "out"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("there is no op 'q8ta_rleu'; did you mean 'q8ta_relu'?"));
  EXPECT_FALSE(fs::exists(folder / "out"));
}

}  // namespace
}  // namespace assay::test
