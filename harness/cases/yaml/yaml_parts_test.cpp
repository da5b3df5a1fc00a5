#include "harness/cases/yaml/nearest.h"
#include "harness/cases/yaml/scalars.h"
#include "harness/cases/yaml/source_file.h"
#include "harness/cases/yaml/yaml_parser.h"
#include "harness/cases/yaml/yaml_tree.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>
#include <utility>

namespace assay::cases {

// Tests diagnostics, suggestions, source files and the YAML tree separately.

namespace {

std::string rendered(const std::string& text, Mark mark, const std::string& suggestion = "") {
  return to_string(SourceFile("a.yaml", text).diagnose(mark, "bad", suggestion));
}

TEST(Diagnostic, ShowsPlaceLineCaretAndSuggestion) {
  EXPECT_EQ(rendered("one\n    shpae: [1]\n", {1, 4}, "shape"),
            "a.yaml:2:5: error: bad\n"
            "        shpae: [1]\n"
            "        ^\n"
            "    did you mean 'shape'?");
}

TEST(Diagnostic, RepeatsTabsBeforeTheCaret) {
  EXPECT_EQ(rendered("a:\tb", {0, 3}), "a.yaml:1:4: error: bad\n    a:\tb\n      \t^");
}

TEST(Diagnostic, CountsCharactersAndNotBytes) {
  const SourceFile file("a.yaml", "k\xC3\xA9y: b\xC3\xA4r");
  const Diagnostic diagnostic = file.diagnose({0, 6}, "bad");  // byte 6 is the 'b'
  EXPECT_EQ(diagnostic.where.column, 6);
  EXPECT_EQ(to_string(diagnostic), "a.yaml:1:6: error: bad\n    k\xC3\xA9y: b\xC3\xA4r\n         ^");
}

TEST(Diagnostic, OfAWholeFileHasNoLine) {
  EXPECT_EQ(to_string(file_diagnostic("a.yaml", "no such file")), "a.yaml: error: no such file");
}

TEST(Nearest, CountsInsertionsDeletionsReplacementsAndSwaps) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("abc", "abc"), 0u);
  EXPECT_EQ(edit_distance("abc", "ABC"), 0u);
  EXPECT_EQ(edit_distance("abc", "ab"), 1u);
  EXPECT_EQ(edit_distance("ab", "abc"), 1u);
  EXPECT_EQ(edit_distance("abc", "axc"), 1u);
  EXPECT_EQ(edit_distance("abc", "acb"), 1u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
}

TEST(Nearest, KnowsDTypesByTheNamesOfOtherTools) {
  const std::array<std::string, 4> known{"f32", "f16", "i8", "u8"};
  EXPECT_EQ(nearest("float32", known), "f32");
  EXPECT_EQ(nearest("Half", known), "f16");
  EXPECT_EQ(nearest("torch.int8", known), "i8");
  EXPECT_EQ(nearest("uint8", known), "u8");
  EXPECT_EQ(nearest("int32", known), "") << "i32 is none of them";
  EXPECT_EQ(dtype_meant("f32"), "") << "no name of another tool";
}

TEST(Nearest, OffersTheOnlyNameThatHasTheTextAsItsWords) {
  const std::array<std::string, 4> known{"q8ta_pixel_shuffle", "quantize_affine", "dequantize_affine",
                                         "view"};
  EXPECT_EQ(nearest("pixel_shuffle", known), "q8ta_pixel_shuffle");
  EXPECT_EQ(nearest("dequant", known), "dequantize_affine");
  EXPECT_EQ(nearest("affine", known), "") << "which one?";
  EXPECT_EQ(nearest("ixel", known), "") << "no word";
}

TEST(Nearest, OffersWhatMayHaveBeenMeantAndNothingElse) {
  const std::array<std::string, 4> known{"shape", "scale", "upscale_factor", "op"};
  EXPECT_EQ(nearest("shpae", known), "shape");
  EXPECT_EQ(nearest("scal", known), "scale");
  EXPECT_EQ(nearest("up_scale_factor", known), "upscale_factor");
  EXPECT_EQ(nearest("opp", known), "op");
  EXPECT_EQ(nearest("frobnicate", known), "");
  EXPECT_EQ(nearest("x", known), "");
  EXPECT_EQ(nearest("", known), "");
  EXPECT_EQ(nearest(std::string(100000, 's'), known), "");
}

TEST(SourceFile, KnowsItsLines) {
  const SourceFile file("a.yaml",
                        "\xEF\xBB\xBF"
                        "one\r\ntwo\rthree\n\nfive");
  EXPECT_EQ(file.lines(), 5);
  EXPECT_EQ(file.line(1), "one");
  EXPECT_EQ(file.line(2), "two");
  EXPECT_EQ(file.line(3), "three");
  EXPECT_EQ(file.line(4), "");
  EXPECT_EQ(file.line(5), "five");
  EXPECT_EQ(file.line(6), "");
}

TEST(SourceFile, PutsAPlacePastTheEndAtTheEndOfTheLastText) {
  const SourceFile file("a.yaml", "one\ntwo\n\n  \n");
  const SourceLocation where = file.locate({9, 3});
  EXPECT_EQ(where.line, 2);
  EXPECT_EQ(where.column, 4);
}

TEST(SourceFile, RefusesWhatIsNotUtf8) {
  for (const std::string& bad :
       {std::string("a\0b", 3), std::string("\xC0\xAF"), std::string("\xE2\x82"), std::string("\x80"),
        std::string("\xF8\x88\x80\x80\x80"), std::string("a\x1b[0m")}) {
    EXPECT_THROW(SourceFile("a.yaml", bad), Problem);
  }
  EXPECT_NO_THROW(SourceFile("a.yaml", "\xE2\x82\xAC \xF0\x9F\x98\x80 \t"));
}

TEST(YamlTree, KeepsPlacesOrderAndQuotes) {
  const SourceFile file("a.yaml", "a: [1, \"2\"]\nb: {c: ~}\n");
  Arena arena;
  const Node* root = parse_yaml(file, arena);
  ASSERT_NE(root, nullptr);
  ASSERT_EQ(root->entries.size(), 2u);
  const Node& a = *root->find("a");
  ASSERT_EQ(a.items.size(), 2u);
  EXPECT_FALSE(a.items[0]->quoted);
  EXPECT_TRUE(a.items[1]->quoted);
  EXPECT_EQ(location_of(*a.items[1]).column, 8);
  EXPECT_TRUE(root->find("b")->find("c")->is_null());
  EXPECT_EQ(location_of(*root->find("b")->find_entry("c")->key).line, 2);
  EXPECT_EQ(root->weight, 1u + 2 + 2 + 2 + 2)
      << "root, its keys, the list and its items, the map and its entry";
}

TEST(YamlTree, CountsAliasesAsIfWrittenOut) {
  const SourceFile file("a.yaml", "a: &x [1, 2]\nb: [*x, *x]\n");
  Arena arena;
  const Node* root = parse_yaml(file, arena);
  EXPECT_EQ(root->find("b")->weight, 7u);
  EXPECT_EQ(root->find("b")->items[0], root->find("a"));
}

TEST(YamlTree, StopsAtItsLimits) {
  const SourceFile file("a.yaml", "a: &x [1, 2]\nb: [*x, *x]\n");
  Arena arena;
  EXPECT_NO_THROW(parse_yaml(file, arena, {.depth = 2, .nodes = 13}));
  EXPECT_THROW(parse_yaml(file, arena, {.depth = 2, .nodes = 12}), Problem);
  EXPECT_THROW(parse_yaml(file, arena, {.depth = 1, .nodes = 13}), Problem);
}

TEST(YamlTree, RefusesTagsOfAnyValue) {
  const auto parse = [](const std::string& text) {
    const SourceFile file("a.yaml", text);
    Arena arena;
    parse_yaml(file, arena);
  };
  for (const char* text : {"a: ! [4]\n", "a: ! {b: 1}\n", "a: !\n  - 1\n", "a: ! null\n", "a: ! \"text\"\n",
                           "a: &x ! text\n", "a: ! &x [4]\n", "a: [! 1]\n", "! a: 1\n", "a: !!str 1\n"}) {
    EXPECT_THROW(parse(text), Problem) << text;
  }
  for (const char* text : {"a: \"text\"\n", "a: '! text'\n", "a: &x \"! text\"\n", "a: |\n  ! text\n",
                           "\"! a\": 1\n", "a: [\"b\", 'c']\n"}) {
    EXPECT_NO_THROW(parse(text)) << text;
  }
}

/// What is said of a text that is no YAML: the first line of the message.
std::string syntax_error_of(const std::string& text) {
  const SourceFile file("a.yaml", text);
  Arena arena;
  try {
    parse_yaml(file, arena);
  } catch (const Problem& problem) {
    const std::string message = to_string(problem.diagnostics().front());
    return message.substr(0, message.find('\n'));
  }
  return "";
}

/// The place was that of the next line's colon.
TEST(YamlTree, TellsThePlaceOfAColonWithoutABlank) {
  EXPECT_EQ(syntax_error_of("cases:\n  - name:one\n    shape: [1]\n"),
            "a.yaml:2:5: error: YAML syntax: a blank is missing after 'name:'");
  EXPECT_EQ(syntax_error_of("op:copy\ncases: []\n"),
            "a.yaml:1:1: error: YAML syntax: a blank is missing after 'op:'");
  EXPECT_EQ(syntax_error_of("cases:\n  - name: one\n    shape:[1]\n\n    seed: 3\n"),
            "a.yaml:3:5: error: YAML syntax: a blank is missing after 'shape:'")
      << "in the middle of a map, with an empty line behind it";
  EXPECT_EQ(syntax_error_of("cases:\n  - name: one\n    shape:[1]\n  - name: two\n"),
            "a.yaml:3:5: error: YAML syntax: a blank is missing after 'shape:'")
      << "at the end of a list item";
  EXPECT_EQ(syntax_error_of("x:\n  scale:0.5\n  zero_point: 1\n"),
            "a.yaml:2:3: error: YAML syntax: a blank is missing after 'scale:'");
  EXPECT_EQ(syntax_error_of("cases:\n  - name: one\n    shape:[1]\n"), "")
      << "at the end of the file it is a key for the scanner, which no case has";
}

/// The place was in the value before it, which is innocent, or that of the next line's colon.
TEST(YamlTree, TellsThePlaceOfAColonWithoutABlankBehindAnyValue) {
  const auto places = {
      std::pair("cases:\n  - name: x\n    shape:\n      - 1\n      - 2\n    seed:3\n    fill: 1\n", "6:5"),
      std::pair("cases:\n  - name: x\n    shape:\n      - 1\n    seed:3\n  - name: y\n", "5:5"),
      std::pair("shape: [1,\n 2,\n 3]\nseed:3\nfill: 1\n", "4:1"),
      std::pair("a:\n  shape: [\n    1\n  ]\n  seed:3\n  fill: 1\n", "5:3"),
      std::pair("doc: >-\n  some text\n  and more\nseed:3\nfill: 1\n", "4:1"),
      std::pair("doc: |\n  some text\n    and more\nseed:3\nfill: 1\n", "4:1"),
      std::pair("doc: some text\n  and more\nseed:3\nfill: 1\n", "3:1"),
      std::pair("shape:\n- 1\n- 2\nseed:3\nfill: 1\n", "4:1"),
      std::pair("cases:\n  - one\n  -\n    seed:3\n    fill: 1\n", "4:5"),
  };
  for (const auto& [text, place] : places) {
    EXPECT_EQ(syntax_error_of(text),
              "a.yaml:" + std::string(place) + ": error: YAML syntax: a blank is missing after 'seed:'")
        << text;
  }
  EXPECT_EQ(syntax_error_of("include:\n  - sets/forms.yaml\nop:q8ta_relu\ncases:\n  - name: x\n"),
            "a.yaml:3:1: error: YAML syntax: a blank is missing after 'op:'");
}

TEST(YamlTree, TellsThePlaceOfAColonWithoutABlankBeforeBrackets) {
  EXPECT_EQ(syntax_error_of("shape:[1,\n  2]\nfill: 1\n"),
            "a.yaml:1:1: error: YAML syntax: a blank is missing after 'shape:'");
  EXPECT_EQ(syntax_error_of("op: a\nshape:[1,\n  2]\nfill: 1\n"),
            "a.yaml:2:1: error: YAML syntax: a blank is missing after 'shape:'");
  EXPECT_EQ(syntax_error_of("shape: [1,\n  2]\nseed:3\nfill: 1\n"),
            "a.yaml:3:1: error: YAML syntax: a blank is missing after 'seed:'");
  EXPECT_EQ(syntax_error_of("op: a\nseed:[3]]\nfill: 1\n"),
            "a.yaml:2:1: error: YAML syntax: a blank is missing after 'seed:'");
}

TEST(YamlTree, TellsThePlaceOfAKeyWithoutAColon) {
  EXPECT_EQ(
      syntax_error_of("cases:\n  - name one\n    shape: [1]\n"),
      "a.yaml:2:5: error: YAML syntax: this text has no ':' and is read as a key up to the one at 3:10; a "
      "key and its ':' are in one line");
}

TEST(YamlTree, TellsThePlaceOfAKeyWithoutAColonNextToOtherValues) {
  const auto places = {
      std::pair("shape\n  - 1\n  - 2\nseed: 3\n", "1:1"),
      std::pair("shape\n- 1\n- 2\nseed: 3\n", "1:1"),
      std::pair("op: a\nshape\n  - 1\n  - 2\nseed: 3\n", "2:1"),
      std::pair("cases:\n  - name: a\n    shape\n      - 1\n      - 2\n    seed: 3\n", "3:5"),
      std::pair("doc: |\n  some text\n    and more\ncases\n  - name: x\n", "4:1"),
      std::pair("shape:\n  - 1\nop\nseed: 3\n", "3:1"),
      std::pair("a:\n  - b:\n      - 1\n  - c\n  - d\n    e: 2\n", "5:5"),
  };
  for (const auto& [text, place] : places) {
    const std::string begin = "a.yaml:" + std::string(place) + ": error: YAML syntax: this text has no ':'";
    EXPECT_EQ(syntax_error_of(text).substr(0, begin.size()), begin) << text;
  }
}

TEST(YamlTree, TellsThePlaceOfAColonThatIsTooMuch) {
  EXPECT_EQ(syntax_error_of("a: b\nshape: [1]: 3\n"), "a.yaml:2:11: error: YAML syntax: illegal map value");
  EXPECT_EQ(syntax_error_of("doc: some text\n  and more: x\n"),
            "a.yaml:2:11: error: YAML syntax: illegal map value")
      << "a value that goes on in the next line";
}

TEST(YamlTree, NotesFlawsOncePerPlace) {
  const SourceFile file("a.yaml", "a: &x {k: 1, k: 2, <<: 3}\nb: [*x, *x]\n");
  Arena arena;
  int flaws = 0;
  for_each_flaw(*parse_yaml(file, arena), [&](const Flaw&) {
    ++flaws;
    return true;
  });
  EXPECT_EQ(flaws, 2);
}

TEST(YamlTree, SaturatesInsteadOfWrapping) {
  const std::uint64_t most = ~std::uint64_t{0};
  EXPECT_EQ(saturating_add(most - 1, 1), most);
  EXPECT_EQ(saturating_add(most, 1), most);
  EXPECT_EQ(saturating_multiply(1ULL << 32, 1ULL << 32), most);
  EXPECT_EQ(saturating_multiply(3, 5), 15u);
}

// Tests what counts as an integer, a number or a boolean, as documented in cases/README.md.

Node plain(std::string text) {
  Node node;
  node.kind = Node::Kind::Scalar;
  node.text = std::move(text);
  return node;
}

Node quoted(std::string text) {
  Node node = plain(std::move(text));
  node.quoted = true;
  return node;
}

TEST(Scalars, IntegersAreDecimal) {
  EXPECT_EQ(as_integer(plain("0")), 0);
  EXPECT_EQ(as_integer(plain("-0")), 0);
  EXPECT_EQ(as_integer(plain("+7")), 7);
  EXPECT_EQ(as_integer(plain("-12")), -12);
  EXPECT_EQ(as_integer(plain("9223372036854775807")), INT64_MAX);
  EXPECT_EQ(as_integer(plain("-9223372036854775808")), INT64_MIN);
  for (const char* text : {"", "-", "+", "+-7", "-+7", "0x10", "0o17", "010", "-010", "1_000", "1e3", "1.0",
                           "1 ", "one", "9223372036854775808", "٣"}) {
    EXPECT_EQ(as_integer(plain(text)), std::nullopt) << text;
  }
  EXPECT_EQ(as_integer(quoted("7")), std::nullopt);
}

TEST(Scalars, UnsignedIntegersHave64Bits) {
  EXPECT_EQ(as_unsigned(plain("18446744073709551615")), UINT64_MAX);
  EXPECT_EQ(as_unsigned(plain("18446744073709551616")), std::nullopt);
  EXPECT_EQ(as_unsigned(plain("-1")), std::nullopt);
}

TEST(Scalars, NumbersAreFiniteDecimals) {
  EXPECT_EQ(as_number(plain("1")), 1.0);
  EXPECT_EQ(as_number(plain("-0.5")), -0.5);
  EXPECT_EQ(as_number(plain(".5")), 0.5);
  EXPECT_EQ(as_number(plain("5.")), 5.0);
  EXPECT_EQ(as_number(plain("1e-7")), 1e-7);
  EXPECT_EQ(as_number(plain("+1E+3")), 1000.0);
  for (const char* text : {"", ".", "e3", ".nan", "nan", "NaN", ".inf", "-.inf", "inf", "infinity", "0x1p3",
                           "1,5", "1_0.5", "00.5", "1e400", "1e-400", "1.5f"}) {
    EXPECT_EQ(as_number(plain(text)), std::nullopt) << text;
  }
  EXPECT_EQ(as_number(quoted("1.5")), std::nullopt);
}

TEST(Scalars, FloatsAreRoundedOnceAndMustFit) {
  // Halfway between two floats except for a last digit that a double drops: through a double it would round
  // to even.
  EXPECT_EQ(as_float(plain("1.00000017881393432617187499")), 1.00000011920928955078125f);
  EXPECT_EQ(as_float(plain("1.00000017881393432617187501")), 1.0000002384185791015625f);
  EXPECT_EQ(as_float(plain("1e39")), std::nullopt);
  EXPECT_EQ(as_float(plain("1e-60")), std::nullopt);
}

TEST(Scalars, BooleansAreTrueAndFalseOnly) {
  EXPECT_EQ(as_boolean(plain("true")), true);
  EXPECT_EQ(as_boolean(plain("false")), false);
  for (const char* text : {"True", "TRUE", "yes", "no", "on", "off", "y", "1", "0", ""}) {
    EXPECT_EQ(as_boolean(plain(text)), std::nullopt) << text;
  }
  EXPECT_EQ(as_boolean(quoted("true")), std::nullopt);
}

}  // namespace

}  // namespace assay::cases
