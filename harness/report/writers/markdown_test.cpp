#include "harness/report/writers/markdown.h"

#include "tests/support/records.h"

#include <gmock/gmock.h>

namespace assay {
namespace {

TEST(MarkdownAligned, LinesColumnsUp) {
  EXPECT_EQ(markdown_aligned({{"case", "us"}, {"a", "12.5"}, {"long é"}}, {false, true}),
            "| case   |   us |\n"
            "| ------ | ---: |\n"
            "| a      | 12.5 |\n"
            "| long é |      |\n");
  EXPECT_EQ(markdown_aligned({{"a", "b"}}, {false, true}),
            "| a   |   b |\n"
            "| --- | --: |\n");
}

TEST(MarkdownCell, HoldsNoMarkup) {
  EXPECT_EQ(markdown_cell("a|b\\c `d` *e* <f> [g]\nh"), "a\\|b\\\\c \\`d\\` \\*e\\* \\<f> \\[g] h");
  EXPECT_EQ(markdown_cell("q8ta_pixel_shuffle 2.5"), "q8ta_pixel_shuffle 2.5");
  EXPECT_EQ(markdown_cell("\x1b[1m"), "\\\\x1b\\[1m");
}

TEST(MarkdownCode, IsOneCodeSpan) {
  EXPECT_EQ(markdown_code("op/a_b/*"), "`op/a_b/*`");
  EXPECT_EQ(markdown_code("a|b`c"), "`a\\|b'c`");
  EXPECT_EQ(markdown_code(""), "");
}

}  // namespace
}  // namespace assay
