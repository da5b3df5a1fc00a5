#include "harness/cases/expansion/point_data.h"
#include "harness/cases/tests/case_file_test_support.h"
#include "harness/tensor/npy/npy.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

namespace assay::cases {

// Tests errors in a file as a whole.

namespace {

using namespace test;

class FileErrors : public BadInputTest {};

TEST_P(FileErrors, AreToldWithTheirPlace) {
  expect_message(GetParam());
}

const BadInput file_inputs[] = {
    {"EmptyFile", "", 0,
     "case.yaml:1:1: error: the file is empty: a case file has an 'op' and a list of 'cases'"},
    {"OnlyComments", R"(# nothing
# here
)",
     0, R"(case.yaml:1:1: error: the file is empty: a case file has an 'op' and a list of 'cases'
    # nothing
    ^)"},
    {"OnlyNull", "~\n", 0,
     R"(case.yaml:1:1: error: the file is empty: a case file has an 'op' and a list of 'cases'
    ~
    ^)"},
    {"AListInsteadOfAMap", R"(- a
- b
)",
     0,
     R"(case.yaml:1:1: error: a case file is a map with an 'op' and a list of 'cases', but this one is a list
    - a
    ^)"},
    {"AScalarInsteadOfAMap", "hello\n", 0,
     R"(case.yaml:1:1: error: a case file is a map with an 'op' and a list of 'cases', but this one is the text 'hello'
    hello
    ^)"},
    {"SyntaxErrorInAFlowList", R"(op: quantize_affine
cases: [{name: a
)",
     0, R"(case.yaml:2:17: error: YAML syntax: end of map flow not found for the map that begins at 2:9
    cases: [{name: a
                    ^)"},
    {"SyntaxErrorInAMap", with(quantize_file, "    shape: [8, 6]", "    shape: [8, 6]: 3"), 0,
     R"(case.yaml:4:18: error: YAML syntax: illegal map value
        shape: [8, 6]: 3
                     ^)"},
    {"UnclosedQuote", with(quantize_file, "name: one", R"(name: "one)"), 0,
     R"(case.yaml:3:11: error: YAML syntax: this quote is never closed
      - name: "one
              ^)"},
    {"TabsAsIndentation", R"(op: quantize_affine
cases:
	- name: one
)",
     0, R"(case.yaml:3:2: error: YAML syntax: illegal block entry; indent with blanks, not tabs
    	- name: one
    	^)"},
    {"SecondDocument", quantize_file + R"(---
op: quantize_affine
)",
     0,
     R"(case.yaml:6:1: error: a second YAML document begins here: a file holds one; put it in a file of its own
    ---
    ^)"},
    {"UnknownFileKey", "opp: quantize_affine\n" + quantize_file, 1, R"(case.yaml:1:1: error: unknown key 'opp'
    opp: quantize_affine
    ^
    did you mean 'op'?)"},
    {"UnknownFileKeyFarFromAll", "frobnicate: 1\n" + quantize_file, 1,
     R"(case.yaml:1:1: error: unknown key 'frobnicate'; known: op, include, sets, defaults, cases, chain, params, tensors, nodes, outputs
    frobnicate: 1
    ^)"},
    {"DuplicateFileKey", quantize_file + "op: q8ta_pixel_shuffle\n", 1,
     R"(case.yaml:6:1: error: duplicate key 'op', already given at 1:1
    op: q8ta_pixel_shuffle
    ^)"},
    {"UnknownOp", with(quantize_file, "quantize_affine", "quantize_afine"), 0,
     R"(case.yaml:1:1: error: unknown op 'quantize_afine'
    op: quantize_afine
    ^
    did you mean 'quantize_affine'?)"},
    {"UnknownOpFarFromAll", with(quantize_file, "quantize_affine", "row_softmax"), 0,
     R"(case.yaml:1:1: error: unknown op 'row_softmax'; known: q8ta_pixel_shuffle, quantize_affine, q8ta_dequantize; an op of a manifest needs --ops
    op: row_softmax
    ^)"},
    {"OpOfWrongType", with(quantize_file, "op: quantize_affine", "op: [quantize_affine]"), 0,
     R"(case.yaml:1:1: error: 'op' must be text, got a list
    op: [quantize_affine]
    ^)"},
    {"OpWithoutValue", with(quantize_file, "op: quantize_affine", "op:"), 0,
     R"(case.yaml:1:1: error: 'op' has no value
    op:
    ^)"},
    {"CasesWithoutOp", with(quantize_file, "op: quantize_affine\n", ""), 0,
     R"(case.yaml:1:1: error: a file with 'cases' needs an 'op'
    cases:
    ^)"},
    {"OpWithoutCases", "op: quantize_affine\n", 0,
     R"(case.yaml:1:1: error: the file names the op 'quantize_affine' but has no 'cases'
    op: quantize_affine
    ^)"},
    {"CasesOfWrongType", R"(op: quantize_affine
cases: {name: one}
)",
     0, R"(case.yaml:2:1: error: 'cases' must be a list of cases, got a map
    cases: {name: one}
    ^)"},
    {"CasesEmpty", R"(op: quantize_affine
cases: []
)",
     0, R"(case.yaml:2:1: error: 'cases' is an empty list
    cases: []
    ^)"},
    {"CasesWithoutValue", R"(op: quantize_affine
cases:
)",
     0, R"(case.yaml:2:1: error: 'cases' has no value
    cases:
    ^)"},
    {"CaseEmpty", R"(op: quantize_affine
cases:
  -
)",
     0, R"(case.yaml:2:1: error: a case in this list is empty
    cases:
    ^)"},
    {"CaseOfWrongType", R"(op: quantize_affine
cases:
  - one
)",
     0, R"(case.yaml:3:5: error: a case must be a map with a 'name', got the text 'one'
      - one
        ^)"},
    {"ExplicitTag", with(quantize_file, "name: one", "name: !!str one"), 0,
     R"(case.yaml:3:11: error: YAML tags ('!...') are not part of the case language
      - name: !!str one
              ^)"},
    {"TagWithoutAName", with(quantize_file, "[8, 6]", "! [8, 6]"), 0,
     R"(case.yaml:4:12: error: YAML tags ('!...') are not part of the case language
        shape: ! [8, 6]
               ^)"},
    {"MergeKey", with(quantize_file, "    shape: [8, 6]", "    <<: {shape: [8, 6]}"), 0,
     R"(case.yaml:4:5: error: merge keys ('<<') are not part of the case language: share values by `sets:` or `defaults:`
        <<: {shape: [8, 6]}
        ^)"},
    {"KeyThatIsAList", with(quantize_file, "    shape: [8, 6]", R"(    ? [shape]
    : [8, 6])"),
     0, R"(case.yaml:4:7: error: a key must be a name, but this one is a list
        ? [shape]
          ^)"},
    {"AliasInsideItsAnchor", R"(op: quantize_affine
sets: {a: &a [*a]}
)",
     0, R"(case.yaml:2:15: error: this alias is inside its own anchor
    sets: {a: &a [*a]}
                  ^)"},
    {"UnknownAnchor", with(quantize_file, "[8, 6]", "*nothing"), 0,
     R"(case.yaml:4:12: error: YAML syntax: the referenced anchor is not defined
        shape: *nothing
               ^)"},
    {"ControlCharacter", R"(op: quantize_affine
cases: 
)",
     0, "case.yaml:2:1: error: not a text file: byte 0x04 at offset 27 is not UTF-8 text"},
    {"NotUtf8", "op: quantize_affine\ncases: \xff\n", 0,
     "case.yaml:2:1: error: not a text file: byte 0xff at offset 27 is not UTF-8 text"},
    {"MissingInclude", R"(include: [sets.yaml, nothing.yaml]
=== sets.yaml
sets: {a: 1}
)",
     0, R"(case.yaml:1:22: error: included file nothing.yaml does not exist
    include: [sets.yaml, nothing.yaml]
                         ^)"},
    {"IncludeOfItself", "include: [case.yaml]\n" + quantize_file, 1,
     R"(case.yaml:1:11: error: include cycle: case.yaml -> case.yaml
    include: [case.yaml]
              ^)"},
    {"IncludeCycle", "include: [b.yaml]\n" + quantize_file + R"(=== b.yaml
include: [deeper/c.yaml]
=== deeper/c.yaml
sets: {a: 1}
include: [../case.yaml]
)",
     1, R"(deeper/c.yaml:2:11: error: include cycle: case.yaml -> b.yaml -> deeper/c.yaml -> case.yaml
    include: [../case.yaml]
              ^)"},
    {"IncludeIsNoList", "include: sets.yaml\n", 0,
     R"(case.yaml:1:1: error: 'include' must be a list of files, got the text 'sets.yaml'
    include: sets.yaml
    ^)"},
    {"IncludeOfAMap", "include: [{file: sets.yaml}]\n", 0,
     R"(case.yaml:1:11: error: an include must be the name of a file
    include: [{file: sets.yaml}]
              ^)"},
    {"IncludedFileIsBad", "include: [b.yaml]\n" + quantize_file + R"(=== b.yaml
sets: [
)",
     1, R"(b.yaml:1:8: error: YAML syntax: end of sequence flow not found for the list that begins at 1:7
    sets: [
           ^)"},
    {"IncludedFileIsAShader", "include: [b.comp]\n" + quantize_file + R"(=== b.comp
sets: [
)",
     1,
     "b.comp: error: this is a kernel, and not a case file (those end in .yaml): to run one in place of "
     "assay's own "
     "of the same name, give its folder with --shaders; to run one of yours as an op, write a manifest "
     "beside it and "
     "give that folder with --ops: `assay new-op NAME --external` makes one that works (docs/own-ops.md)"},
    {"TwoIncludesDefineOneSet", R"(include: [a.yaml, b.yaml]
=== a.yaml
sets: {s: 1}
=== b.yaml
sets: {s: 2}
)",
     0, R"(case.yaml:1:19: error: the set 's' is defined at a.yaml:1 and at b.yaml:1
    include: [a.yaml, b.yaml]
                      ^)"},
    {"SetDefinedAgain", R"(include: [a.yaml]
sets: {s: 3}
=== a.yaml
sets: {s: 1}
)",
     0, R"(case.yaml:2:8: error: the set 's' is already defined at a.yaml:1
    sets: {s: 3}
           ^)"},
};

INSTANTIATE_TEST_SUITE_P(Load, FileErrors, testing::ValuesIn(file_inputs), name_of_bad_input);

// Tests errors in files that a case names: their header, dtype, shape and values are checked when the case is
// loaded.

using testing::HasSubstr;
using testing::StartsWith;

class NpyErrors : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& bytes) { folder.write(name, bytes); }

  template <class T>
  void write(const std::string& name, const Shape& shape, T value) {
    HostTensor tensor(DTypeOf<T>::value, shape);
    for (T& element : tensor.as<T>()) element = value;
    write_npy(folder.path() / name, tensor);
  }

  /// Returns the message about a case of quantize_affine (x f32 [8, 6], scale f32 and zero_point i32 [4, 2],
  /// q i8).
  std::string error_of(const std::string& line) {
    const LoadResult result = load_text(folder, quantize_file + "    " + line + "\n");
    EXPECT_EQ(result.cases.size(), result.errors.empty() ? 1u : 0u);
    return messages(folder, result.errors);
  }

  TemporaryFolder folder;
};

TEST_F(NpyErrors, AFileLargerThanMemoryIsRefusedByItsHeader) {
  const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1048576, 1048576), }";
  write("x.npy", std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header);
  const auto begin = std::filesystem::file_size(folder / "x.npy");
  std::error_code error;
  std::filesystem::resize_file(folder / "x.npy", begin + (std::uintmax_t{1} << 42), error);
  if (error) GTEST_SKIP() << "the file system has no files of 4 TiB";
  EXPECT_THAT(error_of("fill: {x: {npy: x.npy}}"),
              StartsWith("case.yaml:6:16: error: x.npy holds f32 [1048576x1048576], but 'x' is f32 [8x6]\n"));
}

TEST_F(NpyErrors, WordsOfAHeaderAreShownBriefly) {
  const std::string header = "{'descr': '" + std::string(50, '\x1b') + std::string(150, 'f') + "', }";
  write("x.npy", std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header);
  const std::string message = error_of("fill: {x: {npy: x.npy}}");
  EXPECT_THAT(message, HasSubstr("\\x1b"));
  EXPECT_EQ(message.find('\x1b'), message.npos);
  EXPECT_LT(message.size(), 400U);
}

TEST_F(NpyErrors, AGoodFileIsTaken) {
  write("x.npy", Shape{8, 6}, 2.5f);
  write("q.npy", Shape{8, 6}, std::int8_t{3});
  EXPECT_EQ(error_of("fill: {x: {npy: x.npy}}"), "");
  EXPECT_EQ(error_of("expected: {q: {npy: q.npy}}"), "");
}

TEST_F(NpyErrors, AMissingFile) {
  const std::string error = error_of("fill: {x: {npy: nothing.npy}}");
  EXPECT_THAT(error, StartsWith("case.yaml:6:16: error: "));
  EXPECT_THAT(error, HasSubstr("nothing.npy"));
  EXPECT_THAT(error, HasSubstr("\n        fill: {x: {npy: nothing.npy}}\n                   ^"));
}

TEST_F(NpyErrors, AFileOfAnotherKind) {
  write("x.npy", std::string("this is text, and long enough to be read as a header of something"));
  EXPECT_THAT(error_of("fill: {x: {npy: x.npy}}"), StartsWith("case.yaml:6:16: error: "));
}

TEST_F(NpyErrors, ATruncatedFile) {
  write("whole.npy", Shape{8, 6}, 2.5f);
  const std::uintmax_t size = std::filesystem::file_size(folder.path() / "whole.npy");
  for (const std::uintmax_t kept : {std::uintmax_t{0}, std::uintmax_t{5}, std::uintmax_t{40}, size - 1}) {
    std::filesystem::copy_file(folder.path() / "whole.npy", folder.path() / "x.npy",
                               std::filesystem::copy_options::overwrite_existing);
    std::filesystem::resize_file(folder.path() / "x.npy", kept);
    EXPECT_THAT(error_of("fill: {x: {npy: x.npy}}"), StartsWith("case.yaml:6:16: error: ")) << kept;
  }
}

TEST_F(NpyErrors, AnotherDtype) {
  write("x.npy", Shape{8, 6}, std::int32_t{2});
  EXPECT_THAT(error_of("fill: {x: {npy: x.npy}}"),
              StartsWith("case.yaml:6:16: error: x.npy holds i32 [8x6], but 'x' is f32 [8x6]\n"));
}

TEST_F(NpyErrors, AnotherShape) {
  write("q.npy", Shape{6, 8}, std::int8_t{2});
  EXPECT_THAT(error_of("expected: {q: {npy: q.npy}}"),
              StartsWith("case.yaml:6:20: error: q.npy holds i8 [6x8], but 'q' is i8 [8x6]\n"));
}

TEST_F(NpyErrors, AScaleThatIsNotPositiveOrNotFinite) {
  for (const float bad : {0.0f, -1.0f, std::nanf(""), std::numeric_limits<float>::infinity()}) {
    write("s.npy", Shape{4, 2}, bad);
    EXPECT_THAT(
        error_of("fill: {scale: {npy: s.npy}}"),
        StartsWith(
            "case.yaml:6:12: error: 'scale' is a scale: every value must be finite and greater than 0"));
  }
  write("s.npy", Shape{4, 2}, 0.5f);
  EXPECT_EQ(error_of("fill: {scale: {npy: s.npy}}"), "");
}

TEST_F(NpyErrors, AZeroPointOutOfRange) {
  write("z.npy", Shape{4, 2}, std::int32_t{128});
  EXPECT_THAT(
      error_of("fill: {zero_point: {npy: z.npy}}"),
      StartsWith("case.yaml:6:12: error: values of 'zero_point' must be between -128 and 127, got 128\n"));
}

TEST_F(NpyErrors, NanIsDataLikeAnyOther) {
  write("x.npy", Shape{8, 6}, std::nanf(""));
  EXPECT_EQ(error_of("fill: {x: {npy: x.npy}}"), "");
}

TEST_F(NpyErrors, DimsOfOneMayBeMissing) {
  write("s.npy", Shape{4, 1, 2, 1}, 0.5f);
  EXPECT_EQ(error_of("fill: {scale: {npy: s.npy}}"), "");
  write("s.npy", Shape{8}, 0.5f);
  EXPECT_THAT(error_of("fill: {scale: {npy: s.npy}}"),
              HasSubstr("s.npy holds f32 [8], but 'scale' is f32 [4x2]"));
}

TEST_F(NpyErrors, DoublesAndLongIntegersMustBeNumbersOfTheTensor) {
  write("s.npy", Shape{4, 2}, 0.5);
  write("z.npy", Shape{4, 2}, std::int64_t{-7});
  EXPECT_EQ(error_of("fill: {scale: {npy: s.npy}, zero_point: {npy: z.npy}}"), "");
  write("s.npy", Shape{4, 2}, 0.1);
  EXPECT_THAT(
      error_of("fill: {scale: {npy: s.npy}}"),
      StartsWith(
          "case.yaml:6:20: error: s.npy holds 0.1 at [0, 0], which f32 cannot represent; save it as f32\n"));
  write("q.npy", Shape{8, 6}, std::int64_t{128});
  EXPECT_THAT(error_of("expected: {q: {npy: q.npy}}"),
              HasSubstr("q.npy holds 128 at [0, 0], which i8 cannot represent"));
}

TEST_F(NpyErrors, ArraysOfAnotherWidthAreTakenWhereEveryValueFits) {
  write("z.npy", Shape{4, 2}, std::int8_t{-7});
  write("x.npy", Shape{8, 6}, to_half(0.5f));
  EXPECT_EQ(error_of("fill: {zero_point: {npy: z.npy}, x: {npy: x.npy}}"), "");
  write("x.npy", Shape{8, 6}, 0.1f);
  EXPECT_THAT(error_of("dtype: f16\n    fill: {x: {npy: x.npy}}"),
              HasSubstr("at [0, 0], which f16 cannot represent; save it as f16"));
  write("x.npy", Shape{8, 6}, 0.5f);
  EXPECT_EQ(error_of("dtype: f16\n    fill: {x: {npy: x.npy}}"), "");
}

TEST_F(NpyErrors, TheRangeOfFloatDataIsForFillsAlone) {
  write("x.npy", Shape{8, 6}, 1e30f);
  EXPECT_EQ(error_of("fill: {x: {npy: x.npy}}"), "") << "x is declared with -4 to 4";
}

TEST_F(NpyErrors, TheLargestMagnitudeOfFloatDataIsForFilesAndConstants) {
  write("x.npy", Shape{8, 6}, -2e30f);
  EXPECT_THAT(error_of("fill: {x: {npy: x.npy}}"),
              HasSubstr("magnitudes of 'x' must be at most 1.2676506002282294e+30, the largest is 2"));
  write("x.npy", Shape{8, 6}, std::numeric_limits<float>::infinity());
  EXPECT_THAT(error_of("fill: {x: {npy: x.npy}}"), HasSubstr("the largest is inf"));
  EXPECT_THAT(error_of("fill: {x: {constant: 2e30}}"), HasSubstr("magnitudes of 'x' must be at most"));
  EXPECT_EQ(error_of("fill: {x: {constant: -1e30}}"), "");
}

TEST_F(NpyErrors, AConstantIsANumberOfTheDtype) {
  EXPECT_THAT(error_of("dtype: f16\n    fill: {x: {constant: -70000}}"),
              HasSubstr("values of 'x' are f16, whose largest is 65504, got -70000"));
  EXPECT_EQ(error_of("dtype: f16\n    fill: {x: {constant: -65504}}"), "");
  EXPECT_THAT(error_of("fill: {scale: {constant: 1e300}}"), HasSubstr("values of 'scale' are f32"));
  EXPECT_THAT(error_of("fill: {scale: {constant: 1e-300}}"), HasSubstr("'scale' is a scale: as f32 every"));
  EXPECT_EQ(error_of("fill: {scale: {constant: 3.4028235e+38}}"), "") << "it is rounded to the largest";
  EXPECT_EQ(error_of("fill: {scale: {constant: 1e-45}}"), "") << "it is rounded to the smallest";
}

TEST_F(NpyErrors, DoublesMayStayForABoundedOutput) {
  write("y.npy", Shape{64, 1}, 0.1);
  const std::string line = "    expected: {y: {npy: y.npy}}\n";
  EXPECT_EQ(messages(folder, load_text(folder, dequantize_case(line)).errors), "");
  EXPECT_THAT(messages(folder, load_text(folder, dequantize_case("    fill: {x: {npy: y.npy}}\n")).errors),
              HasSubstr("y.npy holds f64 [64x1], but 'x' is i8 [64]"));
}

TEST_F(NpyErrors, AMemberOfAnArchive) {
  const std::string golden = std::filesystem::absolute(ASSAY_SOURCE_DIR "/references/golden/q8ta_relu.npz");
  const auto error_with = [&](const std::string& file, const std::string& member) {
    return error_of("fill: {x: {npz: " + file + ", member: " + member + "}}");
  };
  // The other op's array is found and read, but does not fit.
  EXPECT_THAT(error_with(golden, "00/x"), HasSubstr("but 'x' is f32 [8x6]"));
  EXPECT_THAT(error_with(golden, "nobody"), HasSubstr("it has no member 'nobody'"));
  EXPECT_THAT(error_with("none.npz", "x"), HasSubstr("none.npz: there is no such file"));
  write("x.npy", Shape{8, 6}, 2.5f);
  EXPECT_THAT(error_with("x.npy", "x"), HasSubstr("x.npy: it is not a .npz archive"));
  EXPECT_THAT(error_of("fill: {x: {npy: " + golden + "}}"), HasSubstr("it is not a .npy file"));
}

TEST_F(NpyErrors, AMemberNeedsItsArchive) {
  EXPECT_THAT(error_of("fill: {x: {npz: a.npz}}"),
              HasSubstr("'npz' needs a 'member': {npz: FILE, member: NAME}"));
  EXPECT_THAT(error_of("fill: {x: {npy: a.npy, member: x}}"),
              HasSubstr("'member' belongs to 'npz', not to 'npy'"));
  EXPECT_THAT(error_of("fill: {x: {member: x}}"),
              HasSubstr("must be {npy: FILE} or {npz: FILE, member: NAME}"));
  EXPECT_THAT(error_of("expected: {q: {npz: a.npz, npy: a.npy}}"),
              HasSubstr("must be {npy: FILE} or {npz: FILE, member: NAME}"));
}

TEST_F(NpyErrors, PathsAreRelativeToTheFileTheyAreWrittenIn) {
  write("x.npy", Shape{8, 6}, 2.5f);
  folder.write("deeper/sets.yaml", "sets: {from_file: {x: {npy: ../x.npy}}}\n");
  const LoadResult result =
      load_text(folder, "include: [deeper/sets.yaml]\n" + quantize_file + "    fill: from_file\n");
  EXPECT_EQ(messages(folder, result.errors), "");
  ASSERT_EQ(result.cases.size(), 1u);
  EXPECT_EQ(result.cases[0].fills->at("x").file, ArrayFile((folder.path() / "x.npy").string()));
}

TEST(OutsideDomain, WhatIsAddedToScoresIsNumbersAndMinusInfinity) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const TensorSpec mask{.name = "mask", .domain = {.most = 8, .hides = true}};
  const NpyInfo right{.finite = false, .lowest = -infinity, .lowest_finite = -8, .highest = 3};
  EXPECT_EQ(outside_domain(mask, right), std::nullopt);
  NpyInfo wrong = right;
  wrong.lowest_finite = -9;
  EXPECT_EQ(outside_domain(mask, wrong),
            "each value of 'mask' must be -infinity or a number of magnitude 8 at most");
  wrong = right;
  wrong.highest = infinity;
  EXPECT_NE(outside_domain(mask, wrong), std::nullopt);
  wrong = right;
  wrong.has_nan = true;
  EXPECT_NE(outside_domain(mask, wrong), std::nullopt);
}

TEST(OutsideDomain, AScaleMayHaveALargestValue) {
  TensorSpec scale{.name = "scale", .domain = {.role = FillRole::Scale, .hi = 0.25}};
  const NpyInfo values{.lowest = 0.1, .highest = 0.5};
  EXPECT_EQ(outside_domain(scale, values), std::nullopt) << "hi is for fills alone";
  scale.domain.most = 0.25;
  EXPECT_EQ(outside_domain(scale, values), "magnitudes of 'scale' must be at most 0.25, the largest is 0.5");
}

}  // namespace

}  // namespace assay::cases
