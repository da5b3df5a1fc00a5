#include "harness/cases/expansion/load.h"
#include "harness/cases/expansion/setting.h"
#include "harness/cases/expectations/expectations.h"
#include "harness/cases/tests/case_file_test_support.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <string>
#include <vector>

namespace assay::cases {

// Tests what sets, with, qparams, include and each mean in combination, and the segments of ids that they
// give.

namespace {

using namespace test;

using testing::ElementsAre;

std::vector<std::string> middles(const std::vector<Case>& cases) {
  std::vector<std::string> segments;
  for (const Case& test_case : cases) {
    const std::size_t begin = test_case.id.find('/', test_case.id.find('/') + 1) + 1;
    const std::size_t end = test_case.id.rfind('/', test_case.id.rfind('/') - 1);
    segments.push_back(end <= begin ? "" : test_case.id.substr(begin, end - begin));
  }
  return segments;
}

std::vector<std::string> middles_of(std::string_view keys) {
  return middles(
      load_good("op: quantize_affine\n"
                "sets:\n"
                "  small: [4]\n"
                "  both: {each: [[4], [5]]}\n"
                "  pair: {shape: [6], block_size: [3]}\n"
                "  open: {shape: {each: [[6], [9]]}, block_size: [3]}\n"
                "  real: f16\n"
                "  loud: {x: wide}\n"
                "  nested: small\n"
                "defaults: {shape: [8], block_size: [2]}\n"
                "cases:\n"
                "  - name: a\n" +
                std::string(keys)));
}

TEST(Language, ListsNumbersAndWordsBecomeSegments) {
  EXPECT_THAT(middles_of("    block_size: {each: [[-1], [3]]}\n"), ElementsAre("m1", "3"));
  EXPECT_THAT(middles_of("    shape: [2, 3]\n    block_size: {each: [[1, -1], [2, 3]]}\n"),
              ElementsAre("1xm1", "2x3"));
  EXPECT_THAT(middles_of("    eps: {each: [0.50, -1e-7, 1e20, +3, 1.0]}\n"),
              ElementsAre("0.5", "m1em07", "1e20", "3", "1"));
  EXPECT_THAT(middles_of("    symmetric: {each: [true, false]}\n"), ElementsAre("true", "false"));
  EXPECT_THAT(middles_of("    seed: {each: [1, 2]}\n"), ElementsAre("1", "2"));
  EXPECT_THAT(ids_of(load_good(dequantize_case(
                  "    tolerance: {each: [{scale: 0.5}, {abs: 2, share: 0.1, reason: why not}]}\n"))),
              ElementsAre("q8ta_dequantize/one/0.5/tiled", "q8ta_dequantize/one/2.0.1/tiled"));
}

TEST(Language, OneAxisOfOneValueStillHasItsSegment) {
  EXPECT_THAT(middles_of("    dtype: {each: [f16]}\n"), ElementsAre("f16"));
  EXPECT_THAT(middles_of("    dtype: f16\n"), ElementsAre(""));
}

TEST(Language, AxesMultiplyInTheOrderWritten) {
  EXPECT_THAT(middles_of("    dtype: {each: [f32, f16]}\n    seed: {each: [1, 2]}\n"),
              ElementsAre("f32/1", "f32/2", "f16/1", "f16/2"));
  EXPECT_THAT(middles_of("    seed: {each: [1, 2]}\n    dtype: {each: [f32, f16]}\n"),
              ElementsAre("1/f32", "1/f16", "2/f32", "2/f16"));
}

TEST(Language, ASetStandsForItsValueAndGivesItsName) {
  EXPECT_THAT(middles_of("    shape: small\n"), ElementsAre(""));
  EXPECT_THAT(middles_of("    shape: {each: [small, [5]]}\n"), ElementsAre("small", "5"));
  EXPECT_THAT(middles_of("    shape: {each: [nested, [5]]}\n"), ElementsAre("nested", "5"));
  EXPECT_THAT(middles_of("    dtype: {each: [real, f32]}\n"), ElementsAre("real", "f32"));
  EXPECT_THAT(middles_of("    fill: {each: [loud, ties]}\n"), ElementsAre("loud", "ties"));
  EXPECT_EQ(
      load_good("op: quantize_affine\nsets: {small: [4]}\ncases: [{name: a, shape: small, block_size: [2]}]")
          .at(0)
          .params->ints("shape"),
      Shape{4});
}

TEST(Language, ASetThatIsAnAxisGivesItsItems) {
  EXPECT_THAT(middles_of("    shape: both\n"), ElementsAre("4", "5"));
  EXPECT_THAT(middles_of("    shape: {each: [both, [6]]}\n"), ElementsAre("4", "5", "6"));
}

TEST(Language, QuotedTextIsNoSet) {
  const TemporaryFolder folder;
  const LoadResult result = load_text(
      folder,
      "op: quantize_affine\nsets: {small: [4]}\ncases: [{name: a, shape: \"small\", block_size: [2]}]\n");
  EXPECT_EQ(result.cases.size(), 0u);
  EXPECT_EQ(result.errors.size(), 1u);
}

TEST(Language, EachMayStandAnywhereInAValue) {
  EXPECT_THAT(middles_of("    shape: [{each: [2, 3]}, {each: [4, 5]}]\n    block_size: [1, 1]\n"),
              ElementsAre("2/4", "2/5", "3/4", "3/5"));
  EXPECT_THAT(
      middles_of("    fill: {x: {each: [ties, {constant: -0.5}]}, scale: {constant: {each: [1, 2]}}}\n"),
      ElementsAre("ties/1", "ties/2", "constantm0.5/1", "constantm0.5/2"));
  EXPECT_THAT(middles_of("    tune: {local_size: {each: [64, 128]}}\n"),
              ElementsAre("local_size64", "local_size128"));
  EXPECT_THAT(middles_of("    tune: {each: [{}, {local_size: 64}]}\n"),
              ElementsAre("default", "local_size64"));
}

TEST(Language, EachInsideEachIsOneAxis) {
  EXPECT_THAT(middles_of("    shape: {each: [[4], {each: [[5], [6]]}]}\n"), ElementsAre("4", "5", "6"));
}

TEST(Language, WithPutsValuesTogether) {
  EXPECT_THAT(middles_of("    with: {seed: 3, dtype: f16}\n"), ElementsAre(""));
  const std::vector<Case> cases = load_good(R"(op: quantize_affine
sets:
  pair: {shape: [6], block_size: [3]}
cases:
  - name: a
    with: {each: [{shape: [8, 6], block_size: [2, 3]}, pair, {shape: [12], block_size: [-1], seed: 9}]}
)");
  EXPECT_THAT(middles(cases), ElementsAre("8x6.2x3", "pair", "12.m1.9"));
  EXPECT_EQ(cases.at(0).params->ints("block_size"), (Shape{2, 3}));
  EXPECT_EQ(cases.at(1).params->ints("shape"), (Shape{6}));
  EXPECT_EQ(cases.at(2).seed, 9u);
}

TEST(Language, AListOfWithHasSeveralGroups) {
  const std::vector<Case> cases = load_good(R"(op: quantize_affine
cases:
  - name: a
    with:
      - {each: [{shape: [8], block_size: [2]}, {shape: [9], block_size: [3]}]}
      - {quant_min: 0, quant_max: 15}
      - {each: [{dtype: f32, fill: ties}, {dtype: f16, fill: {x: zero}}]}
)");
  EXPECT_THAT(middles(cases), ElementsAre("8.2/f32.ties", "8.2/f16.zero", "9.3/f32.ties", "9.3/f16.zero"));
  EXPECT_EQ(cases.at(0).params->integer("quant_max"), 15);
}

TEST(Language, ASetWithAxesOfItsOwnIsToldApartByThem) {
  const std::vector<Case> cases = load_good(R"(op: quantize_affine
sets:
  open: {shape: {each: [[6], [9]]}, block_size: [3]}
cases:
  - {name: plain, with: open}
  - {name: item, with: {each: [open, {shape: [4], block_size: [2]}]}}
)");
  EXPECT_THAT(middles(cases), ElementsAre("6", "9", "open.6", "open.9", "4.2"));
}

TEST(Language, QparamsAreGivenTogetherOrEachByItsKey) {
  const std::string head =
      "op: q8ta_pixel_shuffle\n"
      "sets:\n"
      "  x_set: {scale: 0.5, zero_point: -7}\n"
      "  same: {x: x_set, y: x_set}\n"
      "defaults: {shape: [1, 4, 2, 2], upscale_factor: 2}\n"
      "cases:\n";
  const std::vector<Case> cases = load_good(head + R"(  - {name: set, qparams: same}
  - {name: map, qparams: {x: x_set, y: {scale: 0.25, zero_point: 1}}}
  - {name: keys, x: x_set, y: {each: [x_set, {scale: 0.25, zero_point: -1}]}}
  - {name: axis, qparams: {each: [same, {x: {scale: 1, zero_point: 2}, y: {scale: 3, zero_point: -4}}]}}
  - {name: inner, x: {scale: {each: [0.5, 0.25]}, zero_point: 0}, y: x_set}
)");
  EXPECT_THAT(middles(cases), ElementsAre("", "", "x_set", "0.25_m1", "same", "1_2.3_m4", "0.5", "0.25"));
  EXPECT_EQ(cases.at(0).params->qparams("y"), (QParams{0.5f, -7}));
  EXPECT_EQ(cases.at(1).params->qparams("y"), (QParams{0.25f, 1}));
  EXPECT_EQ(cases.at(5).params->qparams("y"), (QParams{3, -4}));
  EXPECT_EQ(cases.at(7).params->qparams("x"), (QParams{0.25f, 0}));
}

TEST(Language, FormsAndImplStandLastWhereverTheyAreWritten) {
  const std::vector<Case> cases = load_good(R"(op: quantize_affine
cases:
  - name: a
    impl: all
    forms: {each: [{}, {x: texture3d/CP, q: texture/CP}, {x: texture2d/WP}]}
    shape: {each: [[4], [5]]}
    block_size: [2]
)");
  EXPECT_THAT(
      ids_of(cases),
      ElementsAre("quantize_affine/a/4/WP.WP/elementwise", "quantize_affine/a/5/WP.WP/elementwise",
                  "quantize_affine/a/4/t3CP.t3CP/elementwise", "quantize_affine/a/5/t3CP.t3CP/elementwise",
                  "quantize_affine/a/4/t2WP.WP/elementwise", "quantize_affine/a/5/t2WP.WP/elementwise"));
}

TEST(Language, ImplAllIsEachImplInOrder) {
  const std::vector<Case> cases = load_good(pixel_shuffle_case("    impl: all\n"));
  EXPECT_THAT(ids_of(cases), ElementsAre("q8ta_pixel_shuffle/one/4W4C.4W4C/fused",
                                         "q8ta_pixel_shuffle/one/4W4C.4W4C/unfused"));
}

TEST(Language, AFillIsOfAllInputsOrOfThoseNamed) {
  const std::vector<Case> cases = load_good(R"(op: quantize_affine
defaults: {shape: [4], block_size: [2]}
cases:
  - {name: all, fill: ties}
  - {name: named, fill: {x: saturate, scale: {constant: 0.5}}}
  - {name: constants, fill: constant}
)");
  EXPECT_EQ(cases.at(0).fills->size(), 3u);
  for (const auto& [tensor, fill] : cases.at(0).fills) EXPECT_EQ(fill.kind, FillKind::Ties) << tensor;
  EXPECT_EQ(cases.at(1).fills->at("x").kind, FillKind::Saturate);
  EXPECT_EQ(cases.at(1).fills->at("scale"), (FillSpec{FillKind::Constant, 0.5, {}}));
  EXPECT_EQ(cases.at(1).fills->at("zero_point").kind, FillKind::Normal);
  EXPECT_EQ(cases.at(2).fills->at("x"), (FillSpec{FillKind::Constant, std::nullopt, {}}));
}

/// The fake ops, of which an impl of q8ta_pixel_shuffle cannot tell whether it excludes one point.
Registry with_impossible_condition() {
  std::vector<Op> ops(fake_ops().ops().begin(), fake_ops().ops().end());
  Op& shuffle = *std::ranges::find(ops, "q8ta_pixel_shuffle", &Op::name);
  shuffle.impls.front().invalid_reason = [](const ImplPoint& point) -> std::optional<std::string> {
    if (point.params.ints("shape").front() == 2) throw Error("op.yaml:14:28: 100 is divided by zero");
    return std::nullopt;
  };
  return Registry(std::move(ops));
}

TEST(Language, AConditionThatCannotBeEvaluatedIsAnErrorOfItsCaseAlone) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.write("case.yaml", R"(op: q8ta_pixel_shuffle
cases:
  - {name: good, shape: [1, 4, 1, 1], upscale_factor: 2, x: {scale: 1, zero_point: 0}, y: {scale: 1, zero_point: 0}}
  - {name: bad, shape: [2, 4, 1, 1], upscale_factor: 2, x: {scale: 1, zero_point: 0}, y: {scale: 1, zero_point: 0}}
)");
  const Registry ops = with_impossible_condition();
  const LoadResult loaded = load_cases(std::array{file}, ops);
  ASSERT_EQ(loaded.cases.size(), 1U);
  EXPECT_EQ(loaded.cases[0].name, "good");
  const std::string told = messages(folder, loaded.errors);
  EXPECT_THAT(told, testing::HasSubstr("case.yaml:4:"));
  EXPECT_THAT(told, testing::HasSubstr("op.yaml:14:28: 100 is divided by zero"));
}

TEST(Language, IncludeBringsCasesAndSetsOfOtherFiles) {
  const TemporaryFolder folder;
  folder.write("sets/base.yaml", "sets: {tiny: [4]}\n");
  folder.write("sets/common.yaml", "include: [base.yaml]\nsets: {small: [8]}\n");
  folder.write("other.yaml",
               "op: quantize_affine\ninclude: [sets/base.yaml]\n"
               "cases: [{name: other, shape: tiny, block_size: [2]}]\n");
  folder.write("main.yaml",
               "op: quantize_affine\ninclude: [sets/common.yaml, other.yaml]\n"
               "cases: [{name: main, shape: {each: [tiny, small]}, block_size: [2]}]\n");
  const std::filesystem::path files[] = {folder.path() / "main.yaml"};
  const LoadResult result = load_cases(files, fake_ops());
  EXPECT_EQ(messages(folder, result.errors), "");
  EXPECT_THAT(ids_of(result.cases), ElementsAre("quantize_affine/other/WP.WP/elementwise",
                                                "quantize_affine/main/tiny/WP.WP/elementwise",
                                                "quantize_affine/main/small/WP.WP/elementwise"));
  EXPECT_EQ(folder.without_path(result.cases[0].where->file), "other.yaml");
}

TEST(Language, DefaultsOfAnIncludedFileAreItsOwn) {
  const TemporaryFolder folder;
  folder.write("other.yaml",
               "op: quantize_affine\ndefaults: {tier: smoke, block_size: [2]}\n"
               "cases: [{name: other, shape: [4]}]\n");
  folder.write("main.yaml",
               "op: quantize_affine\ninclude: [other.yaml]\n"
               "cases: [{name: main, shape: [4], block_size: [4]}]\n");
  const std::filesystem::path files[] = {folder.path() / "main.yaml"};
  const LoadResult result = load_cases(files, fake_ops());
  ASSERT_EQ(messages(folder, result.errors), "");
  EXPECT_EQ(result.cases.at(0).tier, Tier::Smoke);
  EXPECT_EQ(result.cases.at(1).tier, Tier::Ci);
}

// Loads the examples of cases/README.md, and checks that its lists are complete.

std::string readme() {
  return read_file(ASSAY_SOURCE_DIR "/cases/README.md");
}

std::vector<std::string> yaml_blocks() {
  std::vector<std::string> blocks;
  std::istringstream lines(readme());
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line == "```yaml") {
      blocks.emplace_back();
      inside = true;
    } else if (line == "```") {
      inside = false;
    } else if (inside) {
      blocks.back() += line + '\n';
    }
  }
  return blocks;
}

TEST(CasesReadme, EveryExampleIsGood) {
  std::size_t case_files = 0, expectation_files = 0;
  for (const std::string& block : yaml_blocks()) {
    const TemporaryFolder folder;
    if (block.starts_with("device:")) {
      const std::filesystem::path files[] = {folder.write("device.yaml", block)};
      EXPECT_EQ(messages(folder, load_expectations(files).errors), "") << block;
      ++expectation_files;
    } else {
      const LoadResult result = load_text(folder, block);
      EXPECT_EQ(messages(folder, result.errors), "") << block;
      EXPECT_FALSE(result.cases.empty()) << block;
      ++case_files;
    }
  }
  EXPECT_EQ(case_files, 7u);
  EXPECT_EQ(expectation_files, 1u);
}

TEST(CasesReadme, ItsProductHasTheIdsAndTheCountThatItTells) {
  const std::vector<Case> cases = load_good(yaml_blocks().at(1));
  EXPECT_EQ(cases.size(), 16u);
  EXPECT_THAT(ids_of(cases), testing::Contains("q8ta_pixel_shuffle/small/1x96x16x9/same/4W4C.4C1W/fused"));
}

TEST(CasesReadme, TellsEveryKeyAndEveryFill) {
  const std::string text = readme();
  for (const std::string& key : setting_keys()) EXPECT_THAT(text, testing::HasSubstr("\n| `" + key + "` |"));
  for (const std::string key :
       {"op", "include", "sets", "defaults", "cases", "name", "mode", "tier", "cache", "timeout"}) {
    EXPECT_THAT(text, testing::HasSubstr("\n| `" + key + "` |"));
  }
  for (const std::string& fill : fill_names()) {
    EXPECT_THAT(text, testing::HasSubstr(fill == "npy" ? "\n| `{npy: FILE}` |" : "\n| `" + fill + "` |"));
  }
}

}  // namespace

}  // namespace assay::cases
