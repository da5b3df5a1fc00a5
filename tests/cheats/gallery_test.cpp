#include "tests/cheats/gallery.h"

#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

namespace assay::test {
namespace {

using ::testing::HasSubstr;

class GalleryTest : public testing::Test {
 protected:
  std::vector<GalleryEntry> read(const std::string& entries) {
    return read_gallery(folder_.write("g.yaml",
                                      "kernels:\n"
                                      "  relu: {shader: q8ta_relu.comp, input: 0, output: 1, cases: some}\n"
                                      "  add: {shader: q8ta_add.comp, input: 0, output: 2, cases: some}\n"
                                      "entries:\n" +
                                          entries));
  }

  std::string refusal(const std::string& entries) try {
    read(entries);
    return "";
  } catch (const std::runtime_error& error) {
    return folder_.without_path(error.what());
  }

  TemporaryFolder folder_;
};

TEST_F(GalleryTest, HasAnEntryForEachKernel) {
  const auto entries =
      read("  - {name: n, of: [relu, add], main: x, verdict: wrong, word: unwritten, ci: true}\n");
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].name, "n_of_relu");
  EXPECT_EQ(entries[1].kernel.shader, "q8ta_add.comp");
  EXPECT_EQ(entries[1].word, "unwritten");
  EXPECT_TRUE(entries[1].in_ci);
}

TEST_F(GalleryTest, NamesTheLineOfWhatIsWrong) {
  EXPECT_THAT(refusal("  - {name: n, of: relu, main: x, verdict: bad}\n"),
              HasSubstr("g.yaml:5: 'bad' is no"));
  EXPECT_THAT(refusal("  - {name: n, of: mul, main: x, verdict: wrong}\n"), HasSubstr("no kernel 'mul'"));
  EXPECT_THAT(refusal("  - {name: n, of: relu, verdict: wrong}\n"), HasSubstr("changes nothing"));
  EXPECT_THAT(refusal("  - {name: n, of: relu, mian: x, verdict: wrong}\n"), HasSubstr("unknown key 'mian'"));
  EXPECT_THAT(refusal("  - {name: n, of: [relu, relu], main: x, verdict: wrong}\n"),
              HasSubstr("second entry"));
}

TEST(ChangedSource, HasTheEditsAndBothMains) {
  GalleryEntry entry;
  entry.kernel = {.shader = "s", .cases = "", .input = "0", .output = "1"};
  entry.edits = {{"= 1;", "= 2;"}};
  entry.main = "void main() { honest_main(); }\n";
  EXPECT_EQ(
      changed_source(entry, "x = 1; void main() {}"),
      "x = 2; void honest_main() {}\n#define INPUT 0\n#define OUTPUT 1\nvoid main() { honest_main(); }\n");
  EXPECT_THROW(changed_source(entry, "void main() {}"), std::runtime_error);
  EXPECT_THROW(changed_source(entry, "x = 1; y = 1; void main() {}"), std::runtime_error);
}

TEST(Gallery, HasManyCheatsAndHonestOnes) {
  const auto entries = read_gallery(ASSAY_SOURCE_DIR "/tests/cheats/gallery.yaml");
  const auto is_honest = [](const GalleryEntry& entry) {
    return entry.verdict == "trusted" || entry.verdict == "unchanged";
  };
  const auto honest = std::ranges::count_if(entries, is_honest);
  EXPECT_GE(honest, 30);
  EXPECT_GE(static_cast<std::ptrdiff_t>(entries.size()) - honest, 60);
}

}  // namespace
}  // namespace assay::test
