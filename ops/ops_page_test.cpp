#include "harness/base/file.h"
#include "harness/cases/describe/describe.h"
#include "harness/cases/expansion/load.h"
#include "harness/gpu/shaders/shader_sources.h"
#include "ops/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

// Checks that docs/ops.md shows what the ops declare, and that the registry knows their files.

namespace assay::ops {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& file) {
  return whole_file(file).value_or("");
}

/// The files with paths as the command sees them, which runs in the tree's root.
LoadResult listed_cases(const Registry& ops) {
  const std::vector<fs::path> paths{(fs::path(ASSAY_SOURCE_DIR) / "cases").lexically_normal()};
  return load_cases(paths, ops);
}

TEST(OpsPage, IsWhatTheOpsDeclare) {
  const Registry ops = registry();
  const LoadResult loaded = listed_cases(ops);
  ASSERT_TRUE(loaded.errors.empty()) << to_string(loaded.errors.front());
  // Compared as a whole, without gtest's difference of long texts: the message names the command to run.
  EXPECT_TRUE(read(fs::path(ASSAY_SOURCE_DIR) / "docs/ops.md") ==
              ops_page(ops, loaded.cases, gpu::path_in_tree))
      << "docs/ops.md is out of date. Build the target assay, then run at the tree's root:\n  "
      << ops_page_command;
}

TEST(OpsPage, NamesFilesThatExist) {
  const Registry ops = registry();
  const LoadResult loaded = listed_cases(ops);
  for (const Op& op : ops.ops()) {
    const OpFiles files = files_of(op, loaded.cases, gpu::path_in_tree);
    for (const auto& some : {files.cases, files.sources, files.references, files.shaders}) {
      EXPECT_FALSE(some.empty()) << op.name << " has no cases, sources, references or shaders";
      for (const std::string& file : some) {
        EXPECT_TRUE(fs::is_regular_file(fs::path(ASSAY_SOURCE_DIR) / file)) << op.name << ": " << file;
      }
    }
    EXPECT_EQ(fs::path(op.files.at(0)).stem(), op.name);
    EXPECT_THAT(files.cases, testing::Contains("cases/" + op.name + ".yaml"));
  }
}

}  // namespace
}  // namespace assay::ops
