#include "harness/cases/select.h"
#include "harness/cases/tests/case_file_test_support.h"
#include "harness/cases/yaml/reporter.h"
#include "harness/cases/yaml/source_file.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <malloc.h>
#include <set>
#include <string>
#include <sys/stat.h>

#ifdef __SANITIZE_ADDRESS__
extern "C" std::size_t __sanitizer_get_current_allocated_bytes();  // GCC has it, and no header that says so
#endif

namespace assay::cases {

// Tests input that no person writes: it must be counted and refused before it is expanded. Expanding it would
// exceed CTest's time limit or memory.

namespace {

using namespace test;

using testing::HasSubstr;
using testing::StartsWith;

class Limits : public testing::Test {
 protected:
  std::string error_of(const std::string& text, const LoadOptions& options = {}) {
    const LoadResult result = load_text(folder, text, options);
    cases = result.cases.size();
    return messages(folder, result.errors);
  }

  TemporaryFolder folder;
  std::size_t cases = 0;
};

std::string repeated(const std::string& text, int times, const std::string& separator = "") {
  std::string result;
  for (int i = 0; i < times; ++i) result += (i == 0 ? "" : separator) + text;
  return result;
}

/// Sets a ... i; each is a list of ten copies of the previous one, written as `mark` and its name.
std::string bomb(const std::string& first, const std::string& anchor, const std::string& alias,
                 const std::string& open, const std::string& close) {
  const auto marked = [&](char name) { return anchor.empty() ? "" : fmt::format("{}{} ", anchor, name); };
  std::string text = fmt::format("op: quantize_affine\nsets:\n  a: {}{}\n", marked('a'), first);
  for (char name = 'b'; name <= 'i'; ++name) {
    const std::string before = fmt::format("{}{}", alias, static_cast<char>(name - 1));
    text += fmt::format("  {}: {}{}{}{}\n", name, marked(name), open, repeated(before, 10, ", "), close);
  }
  return text;
}

TEST_F(Limits, AnAliasBombIsRefusedWithItsCount) {
  const std::string text = bomb("[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]", "&", "*", "[", "]") +
                           "cases:\n  - {name: one, shape: *i, block_size: [2]}\n";
  EXPECT_EQ(error_of(text),
            "case.yaml:8:6: error: with its aliases expanded this value has 1111111 parts, more than the "
            "limit of "
            "1000000\n"
            "      f: &f [*e, *e, *e, *e, *e, *e, *e, *e, *e, *e]\n"
            "         ^");
}

TEST_F(Limits, ABombOfSetsIsRefusedWithItsCount) {
  const std::string text = bomb("[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]", "", "", "[", "]") +
                           "cases:\n  - {name: one, shape: i, block_size: [2]}\n";
  EXPECT_EQ(error_of(text),
            "case.yaml:13:17: error: 'shape' expands to 1111111111 values, more than the limit of 1000000\n"
            "      - {name: one, shape: i, block_size: [2]}\n"
            "                    ^");
}

TEST_F(Limits, AProductOfABillionIsRefusedWithItsCount) {
  const std::string text = bomb("{each: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]}", "", "", "{each: [", "]}") +
                           "cases:\n  - {name: one, shape: [4], block_size: [2], quant_max: i}\n";
  EXPECT_EQ(error_of(text),
            "case.yaml:13:6: error: case 'one' expands to 1000000000 cases (quant_max 1000000000), more than "
            "the limit "
            "of 2000000\n"
            "      - {name: one, shape: [4], block_size: [2], quant_max: i}\n"
            "         ^");
  EXPECT_EQ(cases, 0u);
}

TEST_F(Limits, FactorsOfAProductAreNamed) {
  const std::string axis = "{each: [" + repeated("1", 1000, ", ") + "]}\n";
  EXPECT_THAT(
      error_of(quantize_file + "    quant_min: " + axis + "    quant_max: " + axis + "    eps: " + axis),
      StartsWith("case.yaml:3:5: error: case 'one' expands to 1000000000 cases (quant_min 1000 x quant_max "
                 "1000 x eps 1000), more than the limit of 2000000\n"));
}

TEST_F(Limits, AProductBeyond64BitsSaturates) {
  const std::string axis = "{each: [" + repeated("1", 100, ", ") + "]}";
  EXPECT_THAT(
      error_of("op: quantize_affine\nsets: {t: " + axis + "}\ncases:\n  - name: one\n    block_size: [2]\n" +
               "    shape: [" + repeated("t", 22, ", ") + "]\n"),
      HasSubstr("case 'one' expands to 18446744073709551615 cases"));
}

TEST_F(Limits, TheLimitOfCasesIsAnOption) {
  const std::string text = quantize_file + "    seed: {each: [1, 2, 3]}\n";
  EXPECT_EQ(error_of(text, {.max_cases = 3}), "");
  EXPECT_EQ(cases, 3u);
  EXPECT_THAT(error_of(text, {.max_cases = 2}),
              StartsWith("case.yaml:3:5: error: case 'one' expands to 3 cases (seed 3), "
                         "more than the limit of 2\n"));
}

TEST_F(Limits, TheLimitOfCasesIsThatOfAllCasesTogether) {
  const std::string two =
      quantize_file + "  - {name: two, shape: [8, 6], block_size: [2, 3], seed: {each: [1, 2]}}\n";
  EXPECT_THAT(
      error_of(two, {.max_cases = 2}),
      StartsWith("case.yaml:6:6: error: case 'two' adds 2 cases to the 1 already there, more than the limit "
                 "of 2\n"));
  EXPECT_EQ(cases, 1u);
}

TEST_F(Limits, DeepNestingIsRefused) {
  EXPECT_THAT(error_of("op: " + repeated("[", 70) + repeated("]", 70) + "\n"),
              StartsWith("case.yaml:1:68: error: values are nested more than 64 deep\n"));
  std::string block = "op:\n";
  for (int i = 1; i <= 70; ++i) block += std::string(i, ' ') + "a:\n";
  EXPECT_THAT(error_of(block), StartsWith("case.yaml:65:65: error: values are nested more than 64 deep\n"));
}

TEST_F(Limits, NestingThatWouldExhaustTheStackIsRefused) {
  for (const std::string open : {"[", "{a: ", "- ", "? ", "[a: "}) {
    const std::string text = repeated(open, 10000) + "\n";
    EXPECT_THAT(error_of("op: quantize_affine\n" + text), HasSubstr("error: ")) << open;
    EXPECT_THAT(error_of(text), HasSubstr("error: ")) << open;
  }
  EXPECT_THAT(error_of("op: " + repeated("[\n", 2000)),
              StartsWith("case.yaml:1001:1: error: more than 1000 brackets are open here: values may be "
                         "nested at most 64 deep\n"));
}

TEST_F(Limits, AFileOfMoreThan16MebibytesIsRefused) {
  const std::filesystem::path file = folder.write("case.yaml", "op: quantize_affine\n");
  std::filesystem::resize_file(file, SourceFile::max_bytes + 1);
  const std::filesystem::path files[] = {file};
  EXPECT_EQ(
      messages(folder, load_cases(files, fake_ops()).errors),
      "case.yaml: error: the file has 16777217 bytes, more than the 16777216 that a case file may have");
}

TEST_F(Limits, ALineThatNobodyCanReadIsRefused) {
  EXPECT_EQ(error_of("op: quantize_affine\n# " + std::string(70000, 'x') + "\n"),
            "case.yaml:2:1: error: the line has 70002 bytes, more than the 65536 that a line may have");
}

TEST_F(Limits, AFileOfTooManyValuesIsRefusedBeforeItIsScanned) {
  std::string text = "op: quantize_affine\nsets:\n  s: [\n";
  for (int i = 0; i < 100; ++i) text += repeated("1,", 25000) + "\n";
  EXPECT_EQ(error_of(text),
            "case.yaml:1:1: error: about 1250053 values in one file, more than the limit of 1000000\n"
            "    op: quantize_affine\n"
            "    ^");
}

TEST_F(Limits, ErrorsOfAFileAreShownToAHundred) {
  std::string text = "op: quantize_affine\ncases:\n";
  for (int i = 0; i < 150; ++i) text += "  - {nam: bad" + std::to_string(i) + "}\n";
  text += "  - {name: good, shape: [4], block_size: [2]}\n";
  const LoadResult result = load_text(folder, text);
  ASSERT_EQ(result.errors.size(), 101u);
  EXPECT_EQ(folder.without_path(to_string(result.errors.back())),
            "case.yaml: error: more than 100 errors: the rest are not shown");
  EXPECT_EQ(result.cases.size(), 1u) << "the good one after them";
}

// A million points of which each is an error took half a minute.
TEST_F(Limits, AfterTenThousandCasesWithErrorsTheOthersOfACaseAreNotRead) {
  std::string text = "op: quantize_affine\ncases:\n";
  const std::string blocks = "{each: [" + repeated("3", 1000, ", ") + "]}";  // 8 is not divided by 3
  const std::string seeds = "{each: [" + repeated("1", 1000, ", ") + "]}";
  for (const std::string name : {"bad", "worse"}) {
    text += fmt::format("  - {{name: {}, shape: [8], block_size: [{}], seed: {}}}\n", name, blocks, seeds);
  }
  text += "  - {name: good, shape: [4], block_size: [2]}\n";
  const std::string errors = error_of(text);
  EXPECT_THAT(errors, HasSubstr("case.yaml:3:6: error: over 10000 cases of this file have errors: the last "
                                "989998 of 'bad' are not read"));
  EXPECT_THAT(errors, HasSubstr("the last 999998 of 'worse' are not read"));
  EXPECT_EQ(cases, 3U) << "the first of each, and the good one after them";
}

TEST_F(Limits, CasesWithErrorsCountToo) {
  const std::string numbers = "{each: [" + repeated("3", 40, ", ") + "]}";
  const std::string one = ", shape: [8], block_size: [" + numbers + "]}\n";
  EXPECT_THAT(
      error_of("op: quantize_affine\ncases:\n  - {name: a" + one + "  - {name: b" + one, {.max_cases = 50}),
      HasSubstr("case 'b' adds 40 cases to the 40 already there, more than the limit of 50"));
}

TEST_F(Limits, ALinkToNothingIsAnErrorAndHidesNoCases) {
  folder.write("cases/good.yaml",
               "op: quantize_affine\ncases:\n  - {name: one, shape: [4], block_size: [2]}\n");
  std::filesystem::create_symlink("nowhere", folder / "cases/lost.yaml");
  std::filesystem::create_symlink("itself.yaml", folder / "cases/itself.yaml");
  const std::filesystem::path paths[] = {folder / "cases", folder / "cases/lost.yaml"};
  const LoadResult result = load_cases(paths, fake_ops());
  EXPECT_EQ(messages(folder, result.errors),
            "cases/itself.yaml: error: it is a link to a file that does not exist\n"
            "cases/lost.yaml: error: it is a link to a file that does not exist");
  EXPECT_EQ(result.cases.size(), 1U);
}

TEST_F(Limits, AFileWithoutCasesIsAnErrorWhereItIsNamed) {
  folder.write("cases/sets.yaml", "sets: {small: [4]}\n");
  folder.write("cases/good.yaml",
               "include: [sets.yaml]\nop: quantize_affine\ncases:\n"
               "  - {name: one, shape: small, block_size: [2]}\n");
  const std::filesystem::path all[] = {folder / "cases"};
  EXPECT_EQ(messages(folder, load_cases(all, fake_ops()).errors), "") << "others may include it";
  const std::filesystem::path named[] = {folder / "cases/good.yaml", folder / "cases/sets.yaml"};
  const LoadResult result = load_cases(named, fake_ops());
  EXPECT_THAT(messages(folder, result.errors),
              StartsWith("cases/sets.yaml: error: the file has no cases, only what other files may include"));
  EXPECT_EQ(result.cases.size(), 1U);
}

TEST_F(Limits, PathsThatAreNoCaseFiles) {
  const std::filesystem::path paths[] = {folder.path() / "nothing.yaml", folder.path() / "empty"};
  std::filesystem::create_directory(folder.path() / "empty");
  EXPECT_EQ(messages(folder, load_cases(paths, fake_ops()).errors),
            "nothing.yaml: error: no such file or directory\n"
            "empty: error: there is no case file (*.yaml) below this directory");
}

TEST_F(Limits, AnIncludeChainOf40FilesIsRefused) {
  for (int i = 0; i < 40; ++i) {
    folder.write("f" + std::to_string(i) + ".yaml", "include: [f" + std::to_string(i + 1) + ".yaml]\n");
  }
  folder.write("f40.yaml", "sets: {a: 1}\n");
  EXPECT_THAT(error_of("include: [f0.yaml]\n"),
              StartsWith("f30.yaml:1:11: error: includes are nested more than 32 deep\n"));
}

TEST_F(Limits, AnIncludeOfWhatIsNoFileSaysWhatItIs) {
  std::filesystem::create_directory(folder / "folder");
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  EXPECT_THAT(error_of("include: [folder]\n"), HasSubstr("included file folder is a folder, not a file"));
  EXPECT_THAT(error_of("include: [fifo]\n"), HasSubstr("included file fifo is a device or FIFO, not a file"));
}

TEST_F(Limits, ANameWithANulIsRefused) {
  folder.write("a", "sets: {a: 1}\n");
  EXPECT_THAT(error_of("include: [\"a\\0b\"]\n"), HasSubstr("cannot contain NUL, got 'a\\x00b'"));
  EXPECT_THAT(error_of(quantize_file + "    fill: {x: {npy: \"a\\0b\"}}\n"), HasSubstr("cannot contain NUL"));
}

TEST_F(Limits, WhatATerminalWouldObeyIsShownAsItsNumber) {
  const std::string message = error_of("op: \"quant\xC2\x9Bize\xE2\x80\xAE_affine\"\ncases: []\n");
  EXPECT_THAT(message, HasSubstr("quant\\x9bize\\u202e_affine"));
  EXPECT_EQ(message.find('\xC2'), message.npos);
  const std::string below = error_of("cases: [\"\xE2\x80\xAE\", {nam: x}]\nop: quantize_affine\n");
  EXPECT_THAT(below, HasSubstr("cases: [\"\\u202e\", {nam: x}]\n                       ^")) << below;
}

TEST_F(Limits, QuotedTextBeginsNoLineOfAMessage) {
  EXPECT_THAT(error_of("op: \"x\\nPASS  everything\"\ncases: []\n"),
              HasSubstr("unknown op 'x\\x0aPASS  everything'"));
  EXPECT_THAT(error_of(quantize_file + "    seed: \"1\\nPASS\"\n"),
              HasSubstr("got the quoted text '1\\x0aPASS'"));
  EXPECT_THAT(error_of(quantize_file + "    mode: \"x\\nPASS\"\n"), HasSubstr("'x\\x0aPASS'"));
  EXPECT_THAT(error_of(quantize_file + "    model: \"x\\nPASS\"\n"), HasSubstr("'x\\x0aPASS'"));
  EXPECT_THAT(error_of(quantize_file + "    fill: {\"x\\nPASS\": [1]}\n"), HasSubstr("'fill.x\\x0aPASS'"));
  EXPECT_THAT(error_of("op: quantize_affine\ncases: [{name: \"x\\nPASS\", shape: [4], block_size: [2]}]\n"),
              HasSubstr("got 'x\\x0aPASS'"));
}

TEST_F(Limits, FourHundredThousandSetsTakeTimeInProportion) {
  std::string text = "sets:\n";
  for (int i = 0; i < 400000; ++i) text += "  s" + std::to_string(i) + ": 1\n";
  EXPECT_EQ(error_of(text + quantize_file), "");
}

TEST_F(Limits, AFileOfSetsMayBeIncludedAnyNumberOfTimes) {
  std::string sets = "sets:\n";
  for (int i = 0; i < 2000; ++i) sets += "  s" + std::to_string(i) + ": 1\n";
  folder.write("sets.yaml", sets);
  std::string text = "include:\n";
  for (int i = 0; i < 80000; ++i) text += "  - sets.yaml\n";
  EXPECT_EQ(error_of(text + quantize_file), "");
}

TEST_F(Limits, AThousandCasesAreLoaded) {
  std::string text = "op: quantize_affine\ncases:\n";
  for (int i = 0; i < 100; ++i) {
    text += "  - {name: c" + std::to_string(i) +
            ", shape: {each: [[8, 6], [9, 6], [10, 6], [11, 6], [12, 6]]}, block_size: [2, 3], dtype: {each: "
            "[f32, "
            "f16]}}\n";
  }
  EXPECT_EQ(error_of(text), "");
  EXPECT_EQ(cases, 1000u);
}

}  // namespace

}  // namespace assay::cases

namespace assay {

// Tests the cost of a large product's cases in counts and bytes: a million must be planned in 2 GiB.

namespace {

using namespace test;

std::string seeds(int count) {
  std::string text = "{each: [0";
  for (int i = 1; i < count; ++i) text += (i % 1000 == 0 ? ",\n      " : ", ") + std::to_string(i);
  return text + "]}";
}

/// Returns `count` seeds, each with 4 shapes, 2 forms and 2 impls.
std::string product_of(int count) {
  return "op: q8ta_pixel_shuffle\n"
         "cases:\n"
         "  - name: many\n"
         "    upscale_factor: 2\n"
         "    shape: {each: [[1, 16, 4, 4], [1, 24, 8, 4], [1, 32, 12, 8], [1, 96, 16, 9]]}\n"
         "    x: {scale: 0.5, zero_point: 1}\n"
         "    y: {scale: 0.25, zero_point: -3}\n"
         "    seed: " +
         seeds(count) +
         "\n"
         "    forms: {each: [{x: buffer/4W4C, y: buffer/4W4C}, {x: buffer/4W4C, y: buffer/4C1W}]}\n"
         "    impl: {each: [fused, unfused]}\n";
}

/// Returns how many objects the members of all cases refer to.
template <class Member>
std::size_t objects(const std::vector<Case>& cases, Member member) {
  std::set<const void*> seen;
  for (const Case& test_case : cases) seen.insert(&*(test_case.*member));
  return seen.size();
}

TEST(LargeProducts, WhatPointsHaveInCommonIsThereOnce) {
  const std::vector<Case> cases = load_good(product_of(10));
  ASSERT_EQ(cases.size(), 160U);
  EXPECT_EQ(objects(cases, &Case::params), 40U) << "once for each data set: shapes x seeds";
  EXPECT_EQ(objects(cases, &Case::tensors), 4U) << "once for each shape";
  EXPECT_EQ(objects(cases, &Case::fills), 1U);
  EXPECT_EQ(objects(cases, &Case::expected_files), 1U);
  EXPECT_EQ(objects(cases, &Case::where), 1U);
}

TEST(LargeProducts, TensorsAreAskedForOnceForEachDataSet) {
  std::vector<Op> ops(fake_ops().ops().begin(), fake_ops().ops().end());
  std::size_t asked = 0;
  for (Op& op : ops) {
    op.tensors = [&asked, tensors = op.tensors](const Params& params) {
      ++asked;
      return tensors(params);
    };
  }
  const Registry registry(std::move(ops));
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.write("case.yaml", product_of(10));
  const LoadResult loaded = load_cases(std::span(&file, 1), registry);
  EXPECT_EQ(loaded.cases.size(), 160U);
  EXPECT_EQ(asked, 40U);
}

/// The bytes that this process has allocated and not freed.
std::size_t bytes_in_use() {
#ifdef __SANITIZE_ADDRESS__
  return ::__sanitizer_get_current_allocated_bytes();
#else
  return ::mallinfo2().uordblks + ::mallinfo2().hblkhd;
#endif
}

TEST(LargeProducts, TwoHundredThousandCasesTakeLessThanAKilobyteEach) {
  const std::size_t before = bytes_in_use();
  const std::vector<Case> cases = load_good(product_of(12500));
  const std::size_t held = bytes_in_use() - before;
  ASSERT_EQ(cases.size(), 200000U);
  EXPECT_LT(held / cases.size(), 1000U);
}

}  // namespace

}  // namespace assay
