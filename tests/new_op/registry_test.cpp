#include "tests/support/assay_binary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

// Which files cmake/op_registry_script.cmake recognizes as ops, and which it refuses.

namespace assay::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct RegistryTree : TemporaryFolder {
  ProcessResult look() const {
    return run({.words = {CMAKE_PROGRAM, "-DROOT=" + path().string(), "-DOUTPUT=" + output(), "-P",
                          OP_REGISTRY_SCRIPT}});
  }
  std::string registry() const {
    const ProcessResult result = look();
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return read_file(output());
  }
  std::string output() const { return *this / "registry.cpp"; }
  void add(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((path() / name).parent_path());
    write(name, text);
  }
};

TEST(OpRegistry, HasTheOpsOfAllFamiliesByNameWithTheirFiles) {
  const RegistryTree tree;
  tree.add("ops/family/b.cpp",
           "#include \"ops/family/shared.h\"\n#include \"ops/common/grid.h\"\nOp b() {\n");
  tree.add("ops/family/shared.h", "#include \"references/b.h\"\n");
  tree.add("ops/family/shared.cpp", "Op make(std::string name) {\n");
  tree.add("ops/common/grid.h", "");
  tree.add("references/b.h", "");
  tree.add("references/b.cpp", "");
  tree.add("ops/a.cpp", "Op a() {\n");
  tree.add("ops/a_test.cpp", "Op something() {\n");
  EXPECT_THAT(tree.registry(),
              HasSubstr("  return Registry({\n"
                        "      with_files(a(), {\"ops/a.cpp\"}),\n"
                        "      with_files(b(), {\"ops/family/b.cpp\", \"ops/family/shared.cpp\", "
                        "\"ops/family/shared.h\", \"references/b.cpp\", \"references/b.h\"}),\n"
                        "  });"));
}

TEST(OpRegistry, HasTheOpsOfOtherTreesByTheirWholePaths) {
  const RegistryTree tree, other;
  tree.add("ops/a.cpp", "Op a() {\n");
  other.add("ops/family/b.cpp", "#include \"references/b.h\"\nOp b() {\n");
  other.add("references/b.h", "");
  const auto look = [&] {
    return run({.words = {CMAKE_PROGRAM, "-DROOT=" + tree.path().string(), "-DMORE=" + other.path().string(),
                          "-DOUTPUT=" + tree.output(), "-P", OP_REGISTRY_SCRIPT}});
  };
  EXPECT_EQ(look().exit_code, 0);
  const std::string folder = other.path().string();
  EXPECT_THAT(read_file(tree.output()),
              HasSubstr("      with_files(a(), {\"ops/a.cpp\"}),\n"
                        "      with_files(b(), {\"" +
                        folder + "/ops/family/b.cpp\", \"" + folder + "/references/b.h\"}),\n"));
  other.add("ops/a.cpp", "Op a() {\n");
  const ProcessResult twice = look();
  EXPECT_NE(twice.exit_code, 0);
  EXPECT_THAT(twice.err, HasSubstr("already")) << "CMake breaks its lines anywhere";
}

TEST(OpRegistry, NoticesAnOpThatIsAddedToAFile) {
  const RegistryTree tree;
  tree.add("ops/late.cpp", "// nothing yet\n");
  EXPECT_THAT(tree.registry(), Not(HasSubstr("late")));
  tree.add("ops/late.cpp", "Op late() {\n");
  EXPECT_THAT(tree.registry(), HasSubstr("with_files(late(), {\"ops/late.cpp\"})"));
}

TEST(OpRegistry, RefusesAFileThatHasCasesButNoOp) {
  const RegistryTree tree;
  tree.add("cases/lost.yaml", "op: lost\n");
  tree.add("ops/family/lost.cpp", "auto lost() -> Op {\n");
  const ProcessResult result = tree.look();
  EXPECT_NE(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("cases/lost.yaml"));
  EXPECT_THAT(result.err, HasSubstr("ops/family/lost.cpp"));
}

TEST(OpRegistry, RefusesAnOpThatItsPatternWouldLose) {
  for (const char* definition :
       {"Op other() {", "  Op odd() {", "assay::Op odd() {", "Op odd()", "Op  odd () {"}) {
    const RegistryTree tree;
    tree.add("ops/odd.cpp", std::string(definition) + "\n");
    const ProcessResult result = tree.look();
    EXPECT_NE(result.exit_code, 0) << definition;
    EXPECT_THAT(result.err, HasSubstr("ops/odd.cpp has the line")) << definition;
  }
}

}  // namespace
}  // namespace assay::test
