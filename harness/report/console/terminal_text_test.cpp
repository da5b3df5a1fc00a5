#include "harness/report/console/terminal_text.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(TextTable, LinesItsColumnsUp) {
  EXPECT_EQ(text_table({{"us", "op", "row"}, {"1.50", "view", "a/b"}, {"120.00", "clone", "c"}},
                       {true, false, false}, 80),
            "      us  op     row\n"
            "    1.50  view   a/b\n"
            "  120.00  clone  c\n");
}

TEST(TextTable, LeavesOutColumnsThatSayNothing) {
  EXPECT_EQ(text_table({{"us", "note", "row"}, {"1", "", "a"}, {"2", "", "b"}}, {true, false, false}, 80),
            "  us  row\n"
            "   1  a\n"
            "   2  b\n");
}

TEST(TextTable, PutsALastCellThatDoesNotFitOnALineOfItsOwn) {
  EXPECT_EQ(
      text_table({{"us", "row"}, {"1", "a/short/id"}, {"2", "an/id/that/is/longer"}}, {true, false}, 20),
      "  us  row\n"
      "   1  a/short/id\n"
      "   2\n"
      "      an/id/that/is/longer\n");
}

TEST(TextTable, IsEmptyWithoutRows) {
  EXPECT_EQ(text_table({}, {}, 80), "");
}

TEST(WrappedWords, BreakWhereTheLineIsFull) {
  EXPECT_EQ(wrapped_words("one two  three\nfour", 9), "one two\nthree\nfour\n");
  EXPECT_EQ(wrapped_words("incomprehensible a", 5), "incomprehensible\na\n");
  EXPECT_EQ(wrapped_words("", 5), "");
}

}  // namespace

}  // namespace assay
