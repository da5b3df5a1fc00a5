#include "harness/report/night/wrapped.h"

#include <gtest/gtest.h>

#include <string>

namespace assay {
namespace {

TEST(Wrapped, LeavesAShortTextOnItsLine) {
  EXPECT_EQ(wrapped("  why  ", "it is wrong"), "  why  it is wrong\n");
  EXPECT_EQ(wrapped("  why  ", ""), "  why\n");
}

TEST(Wrapped, BreaksAtTheLastBlankBeforeTheEdgeAndIndents) {
  const std::string word(30, 'x');
  EXPECT_EQ(wrapped("head ", word + " " + word + " " + word + " " + word),
            "head " + word + " " + word + " " + word + "\n     " + word + "\n");
  const std::string full(page_width - 5, 'y');
  EXPECT_EQ(wrapped("head ", full + " z"), "head " + full + "\n     z\n");
}

TEST(Wrapped, AWordThatIsLongerThanALineStandsWhole) {
  const std::string id(150, 'x');
  EXPECT_EQ(wrapped("  ", "a " + id + " b"), "  a\n  " + id + "\n  b\n");
}

TEST(Wrapped, ACommandIsBrokenWhereAShellReadsOn) {
  const std::string id(60, 'x');
  EXPECT_EQ(wrapped_command("  ", "assay run --filter '" + id + "' --shaders " + id),
            "  assay run --filter '" + id + "' --shaders \\\n  " + id + "\n");
}

TEST(Wrapped, ACommandIsNotBrokenInsideOfQuotes) {
  const std::string id(60, 'x');
  const std::string quoted = "'" + id + " " + id + "'";
  EXPECT_EQ(wrapped_command("  ", "assay " + quoted), "  assay \\\n  " + quoted + "\n");
  const std::string mixed = "\"it's " + id + " " + id + "\"";
  EXPECT_EQ(wrapped_command("  ", "assay " + mixed), "  assay \\\n  " + mixed + "\n");
}

}  // namespace
}  // namespace assay
