#include "harness/commands/mutate/fault_list.h"

#include "harness/base/error.h"
#include "harness/commands/mutate/fault_test_support.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

namespace assay::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
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
  EXPECT_THROW(commit_named("no-such-commit", "."), Error);
}

TEST(ChangedLines, IncludeAllLinesOfFilesThatGitDoesNotKnowYet) {
  const test::TemporaryFolder folder;
  const std::string git = "git -C '" + folder.path().string() + "' -c user.name=a -c user.email=a@b ";
  folder.write("shaders/old.comp", "a\n");
  ASSERT_EQ(std::system((git + "init -q && " + git + "add . && " + git + "commit -qm a").c_str()), 0);
  folder.write("shaders/old.comp", "a\nb\n");
  folder.write("shaders/new.comp", "a\nb");
  const std::string commit = commit_named("HEAD", folder.path());
  EXPECT_EQ(commit.size(), 40U);
  const ChangedLines changed = changed_since(commit, folder / "shaders");
  EXPECT_THAT(changed.at("old.comp"), ElementsAre(2));
  EXPECT_THAT(changed.at("new.comp"), ElementsAre(1, 2));
}

/// All three had one message, which named two reasons.
TEST(NothingToTry, HasItsReason) {
  const std::vector<mutation::Fault> of_line_7{fault_record("f1", FaultEnd::Survived).fault};
  MutateOptions::Choice choice;
  EXPECT_THAT(why_nothing_to_try({}, choice, std::nullopt),
              HasSubstr("no line of the shaders that were chosen can have a fault"));
  choice.shard = "2/2";
  EXPECT_THAT(why_nothing_to_try(of_line_7, choice, std::nullopt), HasSubstr("shard 2/2 has no fault"));
  choice.since = std::string(40, 'a');
  choice.folder = "shaders";
  const std::string nothing_changed =
      "nothing changed since aaaaaaaaaaaa: no line of 'shaders' that can have a fault";
  EXPECT_THAT(why_nothing_to_try(of_line_7, choice, ChangedLines{}), HasSubstr(nothing_changed));
  EXPECT_THAT(why_nothing_to_try(of_line_7, choice, ChangedLines{{"a.comp", {6}}}),
              HasSubstr(nothing_changed));
  EXPECT_THAT(why_nothing_to_try(of_line_7, choice, ChangedLines{{"a.comp", {7}}}),
              HasSubstr("shard 2/2 has no fault"));
  choice.shaders = {"a.comp"};
  EXPECT_THAT(why_nothing_to_try(of_line_7, choice, ChangedLines{{"b.comp", {7}}}),
              HasSubstr("since aaaaaaaaaaaa: no line of the shaders that were chosen that can have a fault"))
      << "other files of the folder may have changed";
}

}  // namespace

}  // namespace assay::app
