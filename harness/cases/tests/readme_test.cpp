#include "harness/cases/expansion/setting.h"
#include "harness/cases/expectations/expectations.h"
#include "harness/cases/tests/fake_ops_test_support.h"

#include <gmock/gmock.h>

#include <sstream>
#include <string>
#include <vector>

// Loads the examples of cases/README.md, and checks that its lists are complete.

namespace assay::cases {
namespace {

using namespace test;

std::string readme() {
  return read_file(ASSAY_SOURCE_DIR "/cases/README.md");
}

std::vector<std::string> yaml_blocks() {
  std::vector<std::string> blocks;
  std::istringstream lines(readme());
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line == "```yaml") {
      blocks.emplace_back();
      inside = true;
    } else if (line == "```") {
      inside = false;
    } else if (inside) {
      blocks.back() += line + '\n';
    }
  }
  return blocks;
}

TEST(CasesReadme, EveryExampleIsGood) {
  std::size_t case_files = 0, expectation_files = 0;
  for (const std::string& block : yaml_blocks()) {
    const TemporaryFolder folder;
    if (block.starts_with("device:")) {
      const std::filesystem::path files[] = {folder.write("device.yaml", block)};
      EXPECT_EQ(messages(folder, load_expectations(files).errors), "") << block;
      ++expectation_files;
    } else {
      const LoadResult result = load_text(folder, block);
      EXPECT_EQ(messages(folder, result.errors), "") << block;
      EXPECT_FALSE(result.cases.empty()) << block;
      ++case_files;
    }
  }
  EXPECT_EQ(case_files, 7u);
  EXPECT_EQ(expectation_files, 1u);
}

TEST(CasesReadme, ItsProductHasTheIdsAndTheCountThatItTells) {
  const std::vector<Case> cases = load_good(yaml_blocks().at(1));
  EXPECT_EQ(cases.size(), 16u);
  EXPECT_THAT(ids_of(cases), testing::Contains("q8ta_pixel_shuffle/small/1x96x16x9/same/4W4C.4C1W/fused"));
}

TEST(CasesReadme, TellsEveryKeyAndEveryFill) {
  const std::string text = readme();
  for (const std::string& key : setting_keys()) EXPECT_THAT(text, testing::HasSubstr("\n| `" + key + "` |"));
  for (const std::string key :
       {"op", "include", "sets", "defaults", "cases", "name", "mode", "tier", "cache", "timeout"}) {
    EXPECT_THAT(text, testing::HasSubstr("\n| `" + key + "` |"));
  }
  for (const std::string& fill : fill_names()) {
    EXPECT_THAT(text, testing::HasSubstr(fill == "npy" ? "\n| `{npy: FILE}` |" : "\n| `" + fill + "` |"));
  }
}

}  // namespace
}  // namespace assay::cases
