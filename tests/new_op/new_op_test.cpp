#include "harness/report/journal/journal.h"
#include "tests/support/assay_binary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

// ASSAY_BINARY is assay with the ops of NEW_OP_TREE: a copy of the source tree into which `assay new-op
// generated` wrote one more.

namespace assay::test {
namespace {

namespace fs = std::filesystem;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const fs::path tree = NEW_OP_TREE;
const std::string cases = tree / "cases/generated.yaml";

/// A source tree without ops.
struct Tree : TemporaryFolder {
  Tree() {
    for (const char* folder : {"cases", "docs", "ops", "references", "shaders"})
      fs::create_directory(path() / folder);
    write("docs/ops.md", "| op | what it does |\n|---|---|\n");
  }
  ProcessResult new_op(const std::string& name) const {
    return assay({"new-op", name, "--dir", path().string()});
  }
  /// Beside docs/ops.md.
  std::size_t files() const {
    const auto all = fs::recursive_directory_iterator(path());
    return static_cast<std::size_t>(std::count_if(begin(all), end(all), [](const auto& entry) {
      return entry.is_regular_file() && entry.path().extension() != ".md";
    }));
  }
};

std::vector<std::string> lines_of(const fs::path& file) {
  std::istringstream text(read_file(file));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

TEST(NewOp, ItsFilesHaveAtMost250Lines) {
  std::size_t lines = 0;
  std::size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(tree)) {
    if (!entry.is_regular_file() || entry.path().stem() != "generated") continue;
    lines += lines_of(entry.path()).size();
    ++files;
  }
  EXPECT_EQ(files, 5U) << "cases, op, reference and its header, shader";
  EXPECT_LE(lines, 250U);
  EXPECT_GT(lines, 100U);
}

TEST(NewOp, ItsFilesIncludeOnlyWhatTheirModulesMay) {
  for (const char* file : {"references/generated.cpp", "references/generated.h"}) {
    for (const std::string& line : lines_of(tree / file)) {
      if (!line.starts_with("#include \"")) continue;
      EXPECT_THAT(line,
                  AnyOf(StartsWith("#include \"harness/base/"), StartsWith("#include \"harness/tensor/"),
                        StartsWith("#include \"harness/op/"), StartsWith("#include \"references/")));
    }
  }
  for (const std::string& line : lines_of(tree / "ops/generated.cpp")) {
    if (!line.starts_with("#include \"")) continue;
    EXPECT_THAT(line, AnyOf(StartsWith("#include \"harness/base/"), StartsWith("#include \"harness/tensor/"),
                            StartsWith("#include \"harness/op/"), StartsWith("#include \"references/"),
                            StartsWith("#include \"ops/common/")));
  }
}

TEST(NewOp, EveryAccuracyAndPerformanceRowPasses) {
  const TemporaryFolder folder;
  const ProcessResult result = assay({"run", "--ceilings", "none", cases, "--shaders", tree / "shaders",
                                      "--out", folder / "out", "--budget", "0.1"});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  const RunReport report = read_journal(device_folder(folder / "out") / "journal.jsonl");
  std::size_t timed = 0;
  for (const Record& record : report.records) {
    EXPECT_EQ(record.status, Status::Pass) << record.info.id << ": " << record.reason;
    timed += record.perf ? 1 : 0;
  }
  EXPECT_GE(report.records.size(), 15U);
  EXPECT_GE(timed, 2U);
}

TEST(NewOp, AWrongShaderFails) {
  const TemporaryFolder folder;
  std::string shader = read_file(tree / "shaders/generated.comp");
  const std::string right = "product + push.offset";
  ASSERT_NE(shader.find(right), std::string::npos);
  shader.replace(shader.find(right), right.size(), "product - push.offset");
  folder.write("shaders/generated.comp", shader);
  const ProcessResult result = assay(
      {"run", cases, "--shaders", folder / "shaders", "--filter", "*/small/*", "--out", folder / "out"});
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_THAT(result.out, HasSubstr("FAIL"));
  EXPECT_THAT(result.out, HasSubstr("wrong value"));
}

TEST(NewOp, SaysWhatItWroteAndWhatToDoNext) {
  const Tree empty;
  const ProcessResult result = empty.new_op("my_op2");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(empty.files(), 5U);
  EXPECT_THAT(result.out, HasSubstr("wrote " + (empty / "shaders/my_op2.comp").string() + "\n"));
  EXPECT_THAT(result.out, HasSubstr("added it to " + (empty / "docs/ops.md").string() + "\n"));
  EXPECT_THAT(read_file(empty / "docs/ops.md"), HasSubstr("\n| [`my_op2`](#my_op2) | "));
  EXPECT_THAT(result.out, HasSubstr("assay run cases/my_op2.yaml"));
  for (const auto& entry : fs::recursive_directory_iterator(empty.path())) {
    if (!entry.is_regular_file()) continue;
    EXPECT_THAT(read_file(entry.path()), ::testing::Not(HasSubstr("NEW_OP"))) << entry.path();
  }
}

TEST(NewOp, LeavesAnExistingFileAloneAndWritesNothing) {
  const Tree tree_with_one;
  tree_with_one.write("shaders/mine.comp", "precious");
  const ProcessResult result = tree_with_one.new_op("mine");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr(tree_with_one / "shaders/mine.comp"));
  EXPECT_THAT(result.err, HasSubstr("already exists and is not changed"));
  EXPECT_EQ(tree_with_one.files(), 1U);
  EXPECT_EQ(read_file(tree_with_one / "shaders/mine.comp"), "precious");
}

TEST(NewOp, WritesNoSecondKernelOfAFileName) {
  const Tree tree_with_kernel;
  tree_with_kernel.write("shaders/family/mine.comp", "precious");
  const ProcessResult result = tree_with_kernel.new_op("mine");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("'" + (tree_with_kernel / "shaders/family/mine.comp").string() +
                                    "' already exists and is not changed"));
  EXPECT_EQ(tree_with_kernel.files(), 1U);
}

TEST(NewOp, WritesNothingWhereThePageOfOpsCannotTakeIt) {
  const Tree tree_with_page;
  tree_with_page.write("docs/ops.md", "# Another page\n");
  const ProcessResult result = tree_with_page.new_op("mine");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("adding the op 'mine' to docs/ops.md: it has no table of ops"));
  EXPECT_EQ(tree_with_page.files(), 0U);
  EXPECT_EQ(read_file(tree_with_page / "docs/ops.md"), "# Another page\n");
}

TEST(NewOp, IsKnownWithItsFiles) {
  const ProcessResult result = run({.words = {ASSAY_BINARY, "ops", "generated"}, .directory = tree});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  for (const char* line :
       {"\n  cases        cases/generated.yaml\n", "\n  declaration  ops/generated.cpp\n",
        "\n  references   references/generated.cpp\n               references/generated.h\n",
        "\n  shaders      shaders/generated.comp\n"}) {
    EXPECT_THAT(result.out, HasSubstr(line));
  }
}

TEST(NewOp, LeavesThePageOfOpsAsItsCommandWouldWriteIt) {
  const ProcessResult result = run({.words = {ASSAY_BINARY, "ops", "--markdown"}, .directory = tree});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, read_file(tree / "docs/ops.md"));
}

TEST(NewOp, RefusesNamesThatCannotBe) {
  const Tree empty;
  const std::vector<std::pair<std::string, std::string>> bad = {{"", "lower-case"},
                                                                {"MyOp", "lower-case"},
                                                                {"2d", "lower-case"},
                                                                {"a-b", "lower-case"},
                                                                {"../up", "lower-case"},
                                                                {"a__b", "underscores"},
                                                                {"a_", "underscores"},
                                                                {"my_test", "tests"},
                                                                {"my_test_support", "tests"},
                                                                {"float", "a meaning in C++"},
                                                                {"shape", "a meaning in C++"},
                                                                {std::string(49, 'a'), "49 characters"},
                                                                {"generated", "an op of this name"}};
  for (const auto& [name, why] : bad) {
    const ProcessResult result = empty.new_op(name);
    EXPECT_EQ(result.exit_code, 2) << name;
    EXPECT_THAT(result.err, HasSubstr("naming an op '" + name + "': ")) << name;
    EXPECT_THAT(result.err, HasSubstr(why)) << name;
  }
  EXPECT_EQ(empty.files(), 0U);
}

TEST(NewOp, AFolderThatIsNoSourceTreeIsNamed) {
  const TemporaryFolder folder;
  const ProcessResult result = assay({"new-op", "mine", "--dir", folder.path().string()});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("is not assay's source tree"));
}

}  // namespace
}  // namespace assay::test
