#include "harness/cases/expansion/load.h"
#include "harness/cases/tests/bad_input_test_support.h"

#include <gmock/gmock.h>

// Tests `model`, `layer` and `calls`, which say what a case stands for.

namespace assay::cases {
namespace {

using namespace test;

using testing::ElementsAre;

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
