#include "harness/commands/mutate/changed_lines.h"

#include "harness/base/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::app {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ChangedLines, AreThoseThatTheDiffAdds) {
  const ChangedLines changed = parse_diff(
      "diff --git a/relayout/copy.comp b/relayout/copy.comp\n--- a/relayout/copy.comp\n+++ "
      "b/relayout/copy.comp\n"
      "@@ -10,2 +12,3 @@ void main() {\n-a\n-b\n+c\n+d\n+e\n@@ -30 +33 @@\n-f\n+g\n");
  ASSERT_EQ(changed.size(), 1U);
  EXPECT_THAT(changed.at("relayout/copy.comp"), ElementsAre(12, 13, 14, 33));
  EXPECT_TRUE(is_changed(changed, "relayout/copy.comp", 13));
  EXPECT_FALSE(is_changed(changed, "relayout/copy.comp", 15));
  EXPECT_FALSE(is_changed(changed, "copy.comp", 13));
}

TEST(ChangedLines, AreNoneWhereLinesWereOnlyRemoved) {
  const ChangedLines changed = parse_diff("--- a/x.comp\n+++ b/x.comp\n@@ -3,2 +2,0 @@\n-a\n-b\n");
  EXPECT_THAT(changed.at("x.comp"), IsEmpty());
}

TEST(ChangedLines, AreNoneOfAFileThatIsGone) {
  EXPECT_THAT(parse_diff("--- a/x.comp\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n"), IsEmpty());
}

TEST(ChangedLines, SinceAnUnknownCommitAreAnError) {
  EXPECT_THROW(changed_since("no-such-commit", "."), Error);
}

}  // namespace
}  // namespace assay::app
