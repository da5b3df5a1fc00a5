#include "harness/base/text.h"

#include "tests/support/error_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Text, PrintableShowsWhatWouldMoveTextOnATerminal) {
  EXPECT_EQ(printable("a\xE2\x80\xAE"
                      "b\xE2\x81\xA6\xD8\x9C"),
            "a\\u202eb\\u2066\\u061c");
  EXPECT_EQ(printable("\xC2\x9B"), "\\x9b");
  EXPECT_EQ(printable("\xE2\x80\xA8"), "\\u2028");
  EXPECT_EQ(printable("\xE2\x80\xA6 \xD7\x90"), "\xE2\x80\xA6 \xD7\x90") << "an ellipsis, a Hebrew letter";
}

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(ValidUtf8, KeepsWhatIsValid) {
  const std::string text = "plain \t\n \xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80 \xF4\x8F\xBF\xBF";
  EXPECT_EQ(valid_utf8(text), text);
}

TEST(ValidUtf8, ReplacesBytesThatAreNone) {
  EXPECT_EQ(valid_utf8("a\xFFz"), "a\xEF\xBF\xBDz");
  EXPECT_EQ(valid_utf8("a\x80z"), "a\xEF\xBF\xBDz") << "continuation without a lead";
  EXPECT_EQ(valid_utf8("a\xE2\x82z"), "a\xEF\xBF\xBDz") << "cut short by another character";
  EXPECT_EQ(valid_utf8("a\xE2\x82"), "a\xEF\xBF\xBD") << "cut short by the end";
  EXPECT_EQ(valid_utf8("\xE0\x80\x80"), "\xEF\xBF\xBD") << "overlong";
  EXPECT_EQ(valid_utf8("\xED\xA0\x80"), "\xEF\xBF\xBD") << "surrogate";
  EXPECT_EQ(valid_utf8("\xF4\x90\x80\x80"), "\xEF\xBF\xBD") << "beyond U+10FFFF";
}

TEST(Printable, ShowsControlCharactersAndKeepsLines) {
  EXPECT_EQ(printable("a\tb\nc"), "a\tb\nc");
  EXPECT_EQ(printable_line("a\tb\nc\r\xE2\x80\xAE"), "a\\x09b\\x0ac\\x0d\\u202e");
  EXPECT_EQ(printable(std::string("\x1b[31m\r\x7f") + '\0'), "\\x1b[31m\\x0d\\x7f\\x00");
  EXPECT_EQ(printable("\xC2\x9B"
                      "31m"),
            "\\x9b31m")
      << "the one-character form of ESC [";
  EXPECT_EQ(printable("\xEF\xBF\xBF"), "\xEF\xBF\xBD") << "not allowed in XML";
}

TEST(Shortened, CutsBetweenCodePoints) {
  EXPECT_EQ(shortened("abcdef", 6), "abcdef");
  EXPECT_EQ(shortened("abcdefg", 6), "abc...");
  EXPECT_EQ(shortened("\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9", 4), "\xC3\xA9...");
  EXPECT_EQ(shortened("abcdef", 2), "..");
}

TEST(Text, TheFirstLineEndsBeforeTheFirstLineFeed) {
  EXPECT_EQ(first_line("one\ntwo\n"), "one");
  EXPECT_EQ(first_line("one"), "one");
  EXPECT_EQ(first_line("\ntwo"), "");
}

TEST(Indented, IndentsAllButTheFirstLine) {
  EXPECT_EQ(indented("a\nb\nc", 2), "a\n  b\n  c");
}

TEST(Shortest, ReadsAsAPersonWouldWriteIt) {
  EXPECT_EQ(shortest(12), "12");
  EXPECT_EQ(shortest(-0.0), "-0");
  EXPECT_EQ(shortest(50331648), "50331648") << "whole numbers keep all digits";
  EXPECT_EQ(shortest(static_cast<double>(0.1F)), "0.1");
  EXPECT_EQ(shortest(0.1), "0.1");
  EXPECT_EQ(shortest(1e300), "1e+300");
  EXPECT_EQ(shortest(std::nan("")), "nan");
  EXPECT_EQ(shortest(-infinity), "-inf");
}

TEST(Shortest, ReadsBackAsTheSameFloat) {
  for (const float value : {1.0F / 3, 1e-40F, 3.4028235e38F, -7.0F / 1024, 16777216.0F}) {
    EXPECT_EQ(std::strtof(shortest(static_cast<double>(value)).c_str(), nullptr), value)
        << shortest(static_cast<double>(value));
  }
}

TEST(Shortest, ReadsBackAsTheSameDouble) {
  for (const double value : {1.0 / 3, 4503599627370497.5, 1e-300, 9007199254740994.0}) {
    EXPECT_EQ(std::stod(shortest(value)), value) << shortest(value);
  }
}

TEST(Fixed, HasTheDigitsAsked) {
  EXPECT_EQ(fixed(2.0, 4), "2.0000");
  EXPECT_EQ(fixed(0.00004, 4), "0.0000");
  EXPECT_EQ(fixed(1e300, 0).size(), 301U);
  EXPECT_EQ(fixed(infinity, 4), "inf");
}

TEST(Significant, DropsWhatIsNotThere) {
  EXPECT_EQ(significant(0.5, 6), "0.5");
  EXPECT_EQ(significant(1234567, 3), "1.23e+06");
  EXPECT_EQ(significant(std::nan(""), 3), "nan");
}

TEST(Readable, HasNoExponentForLargeFigures) {
  EXPECT_EQ(readable(0.0012345, 3), "0.00123");
  EXPECT_EQ(readable(8550, 4), "8550");
  EXPECT_EQ(readable(17130.4, 4), "17130");
  EXPECT_EQ(readable(9999.4, 4), "9999");
  EXPECT_EQ(readable(9999.6, 4), "10000") << "four digits of it are 1e+04";
  EXPECT_EQ(readable(-1739.6, 3), "-1740");
  EXPECT_EQ(readable(std::nan(""), 3), "nan");
  EXPECT_EQ(readable(HUGE_VAL, 3), "inf");
}

TEST(BinaryBytes, AreWholeInTheLargestUnit) {
  EXPECT_EQ(binary_bytes(0), "0 B");
  EXPECT_EQ(binary_bytes(1000), "1000 B");
  EXPECT_EQ(binary_bytes(1536), "1536 B");
  EXPECT_EQ(binary_bytes(3ULL << 20), "3 MiB");
  EXPECT_EQ(binary_bytes(2048ULL << 40), "2048 TiB");
}

TEST(BytesText, UsesPowersOfTenWithOneDecimal) {
  EXPECT_EQ(bytes_text(0), "0 bytes");
  EXPECT_EQ(bytes_text(9'999), "9999 bytes");
  EXPECT_EQ(bytes_text(10'000), "10.0 kB");
  EXPECT_EQ(bytes_text(1ULL << 27), "134.2 MB");
  EXPECT_EQ(bytes_text(3'250'000'000), "3.2 GB");
}

TEST(FirstNames, SaysHowManyAreLeftOut) {
  EXPECT_EQ(first_names({}, 2), "");
  EXPECT_EQ(first_names({"a", "b"}, 2), "a, b");
  EXPECT_EQ(first_names({"a", "b", "c", "d"}, 2), "a, b and 2 more");
}

TEST(Slug, IsANameOfLettersDigitsAndHyphens) {
  EXPECT_EQ(slug_of("NVIDIA H100 80GB HBM3"), "nvidia-h100-80gb-hbm3");
  EXPECT_EQ(slug_of("llvmpipe (LLVM 15.0.6, 256 bits)"), "llvmpipe-llvm-15-0-6-256-bits");
  EXPECT_EQ(slug_of("../../etc/passwd"), "etc-passwd");
}

TEST(Slug, IsNeverEmpty) {
  EXPECT_EQ(slug_of(""), "device");
  EXPECT_EQ(slug_of("(\xC2\xAE)"), "device");
}

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

TEST(WordsIn, AreBetweenWhiteSpace) {
  EXPECT_THAT(words_in("M=8 N=16"), ElementsAre("M=8", "N=16"));
  EXPECT_THAT(words_in("  one\ttwo\n"), ElementsAre("one", "two"));
  EXPECT_THAT(words_in(" "), IsEmpty());
}

TEST(Pattern, IsFoundAnywhereInAText) {
  EXPECT_TRUE(Pattern("H[12]00").is_in("NVIDIA H100 PCIe"));
  EXPECT_FALSE(Pattern("^H100").is_in("NVIDIA H100 PCIe"));
  EXPECT_FALSE(Pattern("nvidia").is_in("NVIDIA H100"));
  EXPECT_TRUE(Pattern("nvidia", Pattern::Case::Ignored).is_in("NVIDIA H100"));
  EXPECT_TRUE(Pattern("").is_in(""));
}

TEST(Pattern, SaysWhatIsWrongWithOne) {
  EXPECT_THAT(test::error_of([] { Pattern("(H100"); }), HasSubstr("missing )"));
  EXPECT_NE(test::error_of([] { Pattern("a{2,1}"); }), "");
}

TEST(Pattern, NeitherBacktracksNorExhaustsTheStack) {
  EXPECT_FALSE(Pattern("(a*)*(a*)*(a*)*$b").is_in(std::string(200000, 'a')));
  const std::string why = test::error_of([] { Pattern(std::string(30000, '(') + std::string(30000, ')')); });
  EXPECT_NE(why, "");
  EXPECT_LE(why.size(), 200U);
  EXPECT_NE(test::error_of([] { Pattern("((((((x{1000}){1000}){1000}){1000}){1000}){1000})"); }), "");
}

}  // namespace

}  // namespace assay
