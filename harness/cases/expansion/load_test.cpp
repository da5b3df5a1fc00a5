#include "harness/cases/expansion/load.h"

#include "harness/cases/select.h"
#include "harness/cases/tests/case_file_test_support.h"

#include <gmock/gmock.h>

#include <map>

namespace assay::cases {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// The example from the design, copied exactly.
constexpr std::string_view example = R"(op: q8ta_pixel_shuffle
sets:                                   # named values, used below by name
  same: {x: {scale: 0.007112, zero_point: 0}, y: {scale: 0.007112, zero_point: 0}}
  diff: {x: {scale: 0.007112, zero_point: 0}, y: {scale: 0.013, zero_point: 5}}
cases:
  - name: small
    mode: accu
    tier: smoke
    upscale_factor: 2
    shape:   {each: [[1, 16, 4, 4], [1, 24, 8, 4], [1, 32, 12, 8], [1, 96, 16, 9]]}
    qparams: {each: [same, diff]}
    forms:   {each: [{x: buffer/4W4C, y: buffer/4W4C}, {x: buffer/4W4C, y: buffer/4C1W}]}
    impl:    {each: [fused, unfused]}
)";

TEST(Load, ExpandsAProductInTheOrderWritten) {
  const std::vector<Case> cases = load_good(example);
  ASSERT_EQ(cases.size(), 32u);
  EXPECT_EQ(cases[0].id, "q8ta_pixel_shuffle/small/1x16x4x4/same/4W4C.4W4C/fused");
  EXPECT_EQ(cases[1].id, "q8ta_pixel_shuffle/small/1x16x4x4/same/4W4C.4W4C/unfused");
  EXPECT_EQ(cases[2].id, "q8ta_pixel_shuffle/small/1x16x4x4/same/4W4C.4C1W/fused");
  EXPECT_EQ(cases[4].id, "q8ta_pixel_shuffle/small/1x16x4x4/diff/4W4C.4W4C/fused");
  EXPECT_EQ(cases[31].id, "q8ta_pixel_shuffle/small/1x96x16x9/diff/4W4C.4C1W/unfused");
}

TEST(Load, FillsEveryFieldOfACase) {
  const TemporaryFolder folder;
  const LoadResult result = load_text(folder, pixel_shuffle_case(R"(    mode: both
    tier: nightly
    timeout: 2.5
    seed: 18446744073709551615
    fill: {x: {constant: 3}}
    tune: {local_size: 128}
    forms: {y: buffer/4C1W}
)"));
  ASSERT_THAT(result.errors, IsEmpty());
  ASSERT_EQ(result.cases.size(), 1u);
  const Case& test_case = result.cases[0];
  EXPECT_EQ(test_case.id, "q8ta_pixel_shuffle/one/4W4C.4C1W/fused");
  EXPECT_EQ(test_case.name, "one");
  EXPECT_EQ(test_case.op, fake_ops().find("q8ta_pixel_shuffle"));
  EXPECT_EQ(test_case.impl, test_case.op->find_impl("fused"));
  EXPECT_EQ(test_case.mode, Mode::Both);
  EXPECT_EQ(test_case.tier, Tier::Nightly);
  EXPECT_EQ(test_case.timeout_s, 2.5);
  EXPECT_EQ(test_case.seed, 18446744073709551615ull);
  EXPECT_EQ(test_case.params->ints("shape"), (Shape{1, 16, 4, 4}));
  EXPECT_EQ(test_case.params->qparams("y"), (QParams{0.25f, -3}));
  EXPECT_EQ(test_case.tensors->size(), 2u);
  EXPECT_EQ(test_case.tensors[1].shape, (Shape{1, 4, 8, 8}));
  EXPECT_THAT(test_case.forms,
              ElementsAre(Form{Storage::Buffer, Layout::P4W4C}, Form{Storage::Buffer, Layout::P4C1W}));
  EXPECT_EQ(test_case.fills, (std::map<std::string, FillSpec>{{"x", {FillKind::Constant, 3.0, {}}}}));
  EXPECT_EQ(test_case.tune, (std::map<std::string, std::int64_t>{{"local_size", 128}}));
  EXPECT_EQ(test_case.where->file, (folder.path() / "case.yaml").string());
  EXPECT_EQ(test_case.where->line, 3);
  EXPECT_EQ(test_case.where->column, 5);
  EXPECT_FALSE(test_case.invalid.has_value());
}

TEST(Load, TakesATolerance) {
  const std::vector<Case> cases = load_good(dequantize_case(
      "    tolerance: {scale: 2, abs: 0.5, rel: 1e-3, ulp: 1.5, share: 0.25, reason: a looser driver}\n"));
  ASSERT_EQ(cases.size(), 1u);
  const Tolerance& tolerance = cases[0].tolerance;
  EXPECT_EQ(tolerance.scale, 2);
  EXPECT_EQ(tolerance.abs, 0.5);
  EXPECT_EQ(tolerance.rel, 1e-3);
  EXPECT_EQ(tolerance.ulp, 1.5);
  EXPECT_EQ(tolerance.off_by, 0);
  EXPECT_EQ(tolerance.share, 0.25);
  EXPECT_EQ(tolerance.reason, "a looser driver");
  EXPECT_EQ(to_string(tolerance), "scale=2 abs=0.5 rel=0.001 ulp=1.5 share=0.25");
  EXPECT_EQ(to_string(Tolerance{}), "");
}

TEST(Load, GivesWhatACaseDoesNotSay) {
  const std::vector<Case> cases = load_good(pixel_shuffle_case(""));
  ASSERT_EQ(cases.size(), 1u);
  EXPECT_EQ(cases[0].mode, Mode::Accu);
  EXPECT_EQ(cases[0].tier, Tier::Ci);
  EXPECT_EQ(cases[0].timeout_s, 60);
  EXPECT_EQ(cases[0].seed, 0u);
  EXPECT_EQ(cases[0].impl->name, "fused");
  EXPECT_EQ(cases[0].fills->at("x"), FillSpec{});
  EXPECT_EQ(cases[0].tolerance->scale, 1);
  EXPECT_THAT(cases[0].tune, IsEmpty());
}

/// A registry in which q8ta_pixel_shuffle has an impl `auto` without tunables behind its others.
Registry with_auto() {
  Op op = *fake_ops().find("q8ta_pixel_shuffle");
  Impl chosen = op.impls.front();
  chosen.name = "auto";
  chosen.tunables.clear();
  op.impls.push_back(chosen);
  return Registry({op});
}

LoadResult load_with_auto(const TemporaryFolder& folder, const std::string& more) {
  const std::filesystem::path files[] = {folder.write("case.yaml", pixel_shuffle_case(more))};
  static const Registry registry = with_auto();
  return load_cases(files, registry, {});
}

TEST(Load, RunsAutoWhereNoImplIsNamed) {
  const TemporaryFolder folder;
  const LoadResult plain = load_with_auto(folder, "");
  ASSERT_EQ(plain.cases.size(), 1u);
  EXPECT_EQ(plain.cases[0].id, "q8ta_pixel_shuffle/one/4W4C.4W4C/auto");
  const LoadResult named = load_with_auto(folder, "    impl: fused\n");
  ASSERT_EQ(named.cases.size(), 1u);
  EXPECT_EQ(named.cases[0].impl->name, "fused");
}

TEST(Load, SaysWhichImplATunableBelongsToWhereNoneIsNamed) {
  const TemporaryFolder folder;
  EXPECT_THAT(messages(folder, load_with_auto(folder, "    tune: {local_size: 64}\n").errors),
              HasSubstr("unknown tunable of q8ta_pixel_shuffle impl 'auto': 'local_size'; the case names no "
                        "impl, and it belongs to impl fused\n"));
}

TEST(Load, TakesTheSeedOfTheOptionsForCasesThatSayNone) {
  const std::vector<Case> cases = load_good(R"(op: quantize_affine
defaults: {shape: [4], block_size: [2]}
cases:
  - {name: quiet}
  - {name: says, seed: 7}
)",
                                            {.seed = 42});
  ASSERT_EQ(cases.size(), 2u);
  EXPECT_EQ(cases[0].seed, 42u);
  EXPECT_EQ(cases[1].seed, 7u);
}

TEST(Load, KeepsExcludedPointsAsInvalid) {
  const std::vector<Case> cases =
      load_good(pixel_shuffle_case("    forms: {each: [{}, {y: buffer/4C1W}]}\n    impl: all\n"));
  ASSERT_EQ(cases.size(), 4u);
  EXPECT_EQ(cases[3].id, "q8ta_pixel_shuffle/one/4W4C.4C1W/unfused");
  EXPECT_EQ(cases[3].invalid, "unfused reads and writes 4W4C only");
  EXPECT_FALSE(cases[1].invalid.has_value());
  EXPECT_FALSE(cases[2].invalid.has_value());
}

TEST(Load, KeepsAFormThatCannotHoldItsTensorAsInvalid) {
  const std::vector<Case> cases = load_good(R"(op: quantize_affine
defaults: {shape: [2, 3, 8], block_size: [1, 1, 8]}
cases:
  - {name: slices, forms: {x: {each: [texture2d/WP, texture3d/CP]}}}
  - {name: flat, shape: [3, 8], block_size: [1, 8], forms: {x: texture2d/WP}}
)");
  ASSERT_EQ(cases.size(), 3u);
  EXPECT_EQ(cases[0].invalid,
            "x: a tensor 2x3x8 as texture2d/WP needs 2 slices; a 2D texture has one: use texture3d");
  EXPECT_FALSE(cases[1].invalid.has_value());
  EXPECT_FALSE(cases[2].invalid.has_value());
}

TEST(Load, AppliesDefaultsUnlessACaseSaysOtherwise) {
  const std::vector<Case> cases = load_good(R"(op: quantize_affine
defaults:
  tier: smoke
  shape: {each: [[8], [9]]}
  block_size: [2]
  dtype: f16
cases:
  - name: as_default
  - name: other
    shape: [5]
    dtype: {each: [f32, f16]}
)");
  EXPECT_THAT(ids_of(cases), ElementsAre("quantize_affine/as_default/8/WP.WP/elementwise",
                                         "quantize_affine/as_default/9/WP.WP/elementwise",
                                         "quantize_affine/other/f32/WP.WP/elementwise",
                                         "quantize_affine/other/f16/WP.WP/elementwise"));
  for (const Case& test_case : cases) EXPECT_EQ(test_case.tier, Tier::Smoke) << test_case.id;
  EXPECT_EQ(cases[0].params->choice("dtype"), "f16");
  EXPECT_EQ(cases[2].params->choice("dtype"), "f32");
}

TEST(Load, ReadsAnchorsAndAliases) {
  const std::vector<Case> cases = load_good(R"(op: quantize_affine
cases:
  - {name: a, shape: &shape [6, 4], block_size: &block {each: [[1, 4], [6, 1]]}}
  - {name: b, shape: *shape, block_size: *block}
)");
  EXPECT_THAT(
      ids_of(cases),
      ElementsAre("quantize_affine/a/1x4/WP.WP/elementwise", "quantize_affine/a/6x1/WP.WP/elementwise",
                  "quantize_affine/b/1x4/WP.WP/elementwise", "quantize_affine/b/6x1/WP.WP/elementwise"));
}

TEST(Load, ReadsByteOrderMarksCarriageReturnsAndTabsAfterValues) {
  const std::string text =
      "\xEF\xBB\xBFop: quantize_affine\t# the op\r\ncases:\r\n  - {name: a, shape: [4],\tblock_size: "
      "[2]}\r\n";
  EXPECT_THAT(ids_of(load_good(text)), ElementsAre("quantize_affine/a/WP.WP/elementwise"));
}

TEST(Load, HidesNoOtherCaseBehindABadOne) {
  const TemporaryFolder folder;
  folder.write("a.yaml",
               "op: quantize_affine\ncases:\n  - {name: good, shape: [4], block_size: [2]}\n"
               "  - {name: bad, shape: [0], block_size: [2]}\n"
               "  - {name: half, shape: {each: [[4], [0], [6]]}, block_size: [2]}\n");
  folder.write("b.yaml", "op: [\n");
  folder.write("c.yaml", "op: quantize_affine\ncases:\n  - {name: last, shape: [4], block_size: [2]}\n");
  const std::filesystem::path paths[] = {folder.path()};
  const LoadResult result = load_cases(paths, fake_ops());
  EXPECT_THAT(
      ids_of(result.cases),
      ElementsAre("quantize_affine/good/WP.WP/elementwise", "quantize_affine/half/4/WP.WP/elementwise",
                  "quantize_affine/half/6/WP.WP/elementwise", "quantize_affine/last/WP.WP/elementwise"));
  EXPECT_EQ(result.errors.size(), 3u);
}

TEST(Load, TakesEveryCaseFileBelowAFolderSortedButExpectations) {
  const TemporaryFolder folder;
  const std::string head = "op: quantize_affine\ncases:\n  - {shape: [4], block_size: [2], name: ";
  folder.write("b.yaml", head + "b}\n");
  folder.write("a/z.yaml", head + "z}\n");
  folder.write("c.txt", "not a case file");
  folder.write("expectations/gpu.yaml", "device: GPU\nexpect: []\n");
  folder.write("a/expectations/gpu.yaml", "device: GPU\nexpect: []\n");
  const std::filesystem::path paths[] = {folder.path()};
  const LoadResult result = load_cases(paths, fake_ops());
  EXPECT_EQ(messages(folder, result.errors), "");
  EXPECT_THAT(ids_of(result.cases),
              ElementsAre("quantize_affine/z/WP.WP/elementwise", "quantize_affine/b/WP.WP/elementwise"));
}

TEST(Load, ReadsAFileOnceHoweverOftenItIsNamed) {
  const TemporaryFolder folder;
  folder.write("a.yaml", "op: quantize_affine\ncases:\n  - {name: a, shape: [4], block_size: [2]}\n");
  folder.write("suite.yaml", "include: [a.yaml, ./a.yaml]\n");
  const std::filesystem::path paths[] = {folder.path() / "a.yaml",
                                         folder.path() / ".." / folder.path().filename(),
                                         folder.path() / "suite.yaml"};
  const LoadResult result = load_cases(paths, fake_ops());
  EXPECT_EQ(messages(folder, result.errors), "");
  EXPECT_EQ(result.cases.size(), 1u);
}

TEST(Load, RefusesAnOpWhoseParameterIsAKeyOfTheLanguage) {
  Op op = *fake_ops().find("quantize_affine");
  op.params.push_back(integer("tier"));
  const Registry registry({op});
  EXPECT_THROW(load_cases({}, registry), std::logic_error);
}

TEST(Load, NamesTheFilesThatItReadIncludesToo) {
  const TemporaryFolder folder;
  const auto canonical = [&](const char* name) { return std::filesystem::canonical(folder.path() / name); };
  folder.write("sets/base.yaml", "sets: {tiny: [4]}\n");
  folder.write("broken.yaml", "op: [");
  folder.write("main.yaml", "op: quantize_affine\ninclude: [sets/base.yaml]\ncases: []\n");
  const std::filesystem::path files[] = {folder.path() / "main.yaml", folder.path() / "broken.yaml"};
  EXPECT_THAT(load_cases(files, fake_ops()).files,
              testing::UnorderedElementsAre(canonical("main.yaml"), canonical("sets/base.yaml"),
                                            canonical("broken.yaml")));
}

// Tests `model`, `layer`, `calls` and `step_tokens`, which say what a case stands for.

constexpr std::string_view model_file = R"(op: quantize_affine
defaults: {model: llama_3_2_1b, block_size: [2]}
cases:
  - name: times
    with:
      - {each: [{shape: [8], layer: attn.q, calls: 16}, {shape: [8], layer: attn.kv, calls: 32}]}
      - {each: [{dtype: f32}, {dtype: f16}]}
)";

TEST(ModelKeys, ALayerAloneNamesItsMapInIds) {
  EXPECT_THAT(ids_of(load_good(model_file)),
              ElementsAre("quantize_affine/times/attn.q/f32/WP.WP/elementwise",
                          "quantize_affine/times/attn.q/f16/WP.WP/elementwise",
                          "quantize_affine/times/attn.kv/f32/WP.WP/elementwise",
                          "quantize_affine/times/attn.kv/f16/WP.WP/elementwise"));
}

TEST(ModelKeys, LandInTheCase) {
  const std::vector<Case> cases = load_good(model_file);
  ASSERT_EQ(cases.size(), 4u);
  EXPECT_EQ(cases[0].model, "llama_3_2_1b");
  EXPECT_EQ(cases[0].layer, "attn.q");
  EXPECT_EQ(cases[0].calls, 16);
  EXPECT_EQ(cases[3].layer, "attn.kv");
  EXPECT_EQ(cases[3].calls, 32);
  EXPECT_EQ(cases[3].tokens, 0) << "as many as the op says";
  EXPECT_EQ(load_good(quantize_file + "    model: m\n    step_tokens: 512\n").at(0).tokens, 512);
}

TEST(ModelKeys, LayersOfOneShapeShareTheirData) {
  const std::vector<Case> cases = load_good(model_file);
  ASSERT_EQ(cases.size(), 4u);
  EXPECT_EQ(cases[0].data_key, cases[2].data_key);
  EXPECT_NE(cases[0].data_key, cases[1].data_key) << "another dtype";
}

std::vector<std::string> ids_with(const std::string& lines) {
  return ids_of(
      load_good("op: quantize_affine\nsets: {net: [4]}\ncases:\n  - name: a\n    block_size: [2]\n" + lines));
}

TEST(ModelKeys, InAMapWithoutALayerTheySayNothingInIds) {
  EXPECT_THAT(ids_with("    with: {each: [{shape: [4], model: m, calls: 2}, {shape: [6], model: m}]}\n"),
              ElementsAre("quantize_affine/a/4/WP.WP/elementwise", "quantize_affine/a/6/WP.WP/elementwise"));
}

TEST(ModelKeys, ALayerOfSeveralShapesHasThemInIds) {
  EXPECT_THAT(
      ids_with("    model: m\n    with: {each: [{shape: {each: [[4], [6]]}, layer: up}]}\n"),
      ElementsAre("quantize_affine/a/up.4/WP.WP/elementwise", "quantize_affine/a/up.6/WP.WP/elementwise"));
}

TEST(ModelKeys, ByThemselvesTheyAreAxesLikeOthers) {
  EXPECT_THAT(
      ids_with("    shape: [4]\n    model: {each: [m, n]}\n    calls: {each: [1, 2]}\n"),
      ElementsAre("quantize_affine/a/m/1/WP.WP/elementwise", "quantize_affine/a/m/2/WP.WP/elementwise",
                  "quantize_affine/a/n/1/WP.WP/elementwise", "quantize_affine/a/n/2/WP.WP/elementwise"));
}

TEST(ModelKeys, TheirTextsAreNoSets) {
  const std::vector<Case> cases = load_good(
      "op: quantize_affine\nsets: {net: [4]}\ncases: [{name: a, shape: net, block_size: [2], model: net}]");
  ASSERT_EQ(cases.size(), 1u);
  EXPECT_EQ(cases[0].model, "net");
}

class ModelKeyErrors : public BadInputTest {};

TEST_P(ModelKeyErrors, AreToldWithTheirPlace) {
  expect_message(GetParam());
}

const BadInput wrong_model_keys[] = {
    {"LayerWithoutModel", quantize_file + "    layer: attn.q\n", 0,
     R"(case.yaml:6:5: error: 'layer' belongs to a model: give 'model' too
        layer: attn.q
        ^)"},
    {"CallsWithoutModel", quantize_file + "    with: {calls: 16}\n", 0,
     R"(case.yaml:6:12: error: 'calls' belongs to a model: give 'model' too
        with: {calls: 16}
               ^)"},
    {"NoCalls", quantize_file + "    model: m\n    calls: 0\n", 0,
     R"(case.yaml:7:5: error: 'calls' must be at least 1, got 0
        calls: 0
        ^)"},
    {"TokensWithoutModel", quantize_file + "    step_tokens: 512\n", 0,
     R"(case.yaml:6:5: error: 'step_tokens' belongs to a model: give 'model' too
        step_tokens: 512
        ^)"},
    {"NoTokens", quantize_file + "    model: m\n    step_tokens: 0\n", 0,
     R"(case.yaml:7:5: error: 'step_tokens' must be at least 1, got 0
        step_tokens: 0
        ^)"},
    {"CallsAsText", quantize_file + "    model: m\n    calls: many\n", 0,
     R"(case.yaml:7:5: error: 'calls' must be a 64-bit decimal integer, got the text 'many'
        calls: many
        ^)"},
    {"ModelWithASlash", quantize_file + "    model: meta/llama\n", 0,
     R"(case.yaml:6:5: error: a model may have only letters, digits, '_' and '.', got 'meta/llama'
        model: meta/llama
        ^)"},
    {"LayerAsAList", quantize_file + "    model: m\n    layer: [up, down]\n", 0,
     R"(case.yaml:7:5: error: 'layer' must be text, got a list
        layer: [up, down]
        ^)"},
};

INSTANTIATE_TEST_SUITE_P(All, ModelKeyErrors, testing::ValuesIn(wrong_model_keys), name_of_bad_input);

}  // namespace

}  // namespace assay::cases
