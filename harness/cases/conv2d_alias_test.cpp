#include "harness/cases/conv2d_alias.h"

#include "harness/cases/describe/describe.h"
#include "harness/cases/select.h"
#include "harness/cases/tests/case_file_test_support.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <stdexcept>

namespace assay {
namespace {

using namespace test;

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr Form words_4w4c{Storage::Buffer, Layout::P4W4C};
constexpr Form words_4c{Storage::Buffer, Layout::P4C};
constexpr Form words_4c1w{Storage::Buffer, Layout::P4C1W};
constexpr Form plain{Storage::Buffer, Layout::WP};

std::vector<TensorSpec> conv_tensors(const Params& params) {
  const Shape& shape = params.ints("shape");
  const std::vector<Form> words{words_4w4c, words_4c, words_4c1w};
  return {
      {.name = "x", .dtype = DType::I8, .shape = shape, .forms = words, .domain = {FillRole::Data, -8, 7}},
      {.name = "w", .dtype = DType::I8, .shape = {4, 4}, .forms = {plain}, .domain = {FillRole::Data, -8, 7}},
      {.name = "y", .role = TensorSpec::Role::Output, .dtype = DType::I8, .shape = shape, .forms = words}};
}

/// An op with x, w and y: `general` (4C1W) runs everywhere, `im2col` (4C) needs a dot product, and `auto`
/// prefers `im2col`.
Op conv_op() {
  const auto nothing = [](const BuildContext&) { return Program{}; };
  Impl general{.name = "general", .summary = "as it comes", .build = nothing};
  general.conv2d_layout = Layout::P4C1W;
  Impl im2col{
      .name = "im2col", .summary = "rows of channels", .needs = {Feature::DotProduct}, .build = nothing};
  im2col.conv2d_layout = Layout::P4C;
  Impl chooser{.name = "auto", .summary = "the better one"};
  chooser.choose = [](const BuildContext&) { return std::vector<std::string>{"im2col", "general"}; };
  return {.name = "conv",
          .params = {shape("shape", rank(4))},
          .tensors = conv_tensors,
          .impls = {general, im2col, chooser}};
}

/// One case of an op, with further keys.
struct Loaded {
  explicit Loaded(const std::string& keys, Op op = conv_op()) : registry({std::move(op)}) {
    const std::filesystem::path files[] = {
        folder.write("case.yaml", "op: conv\ncases:\n  - name: one\n    shape: [1, 8, 4, 4]\n" + keys)};
    result = load_cases(files, registry);
    selected = select(result.cases, {});
  }

  std::string errors() const { return messages(folder, result.errors); }
  std::vector<std::string> ids() const { return ids_of(result.cases); }

  TemporaryFolder folder;
  Registry registry;
  LoadResult result;
  std::vector<const Case*> selected;
};

constexpr const char* both = "    forms: {x: buffer/CONV2D, y: buffer/CONV2D}\n";

DeviceInfo bare() {
  return {};
}

DeviceInfo with_dot_product() {
  DeviceInfo device;
  device.features = {Feature::DotProduct};
  return device;
}

TEST(Conv2dAlias, IsTheLayoutOfTheImplAndStaysInTheId) {
  const Loaded loaded(std::string(both) + "    impl: {each: [general, im2col]}\n");
  ASSERT_EQ(loaded.errors(), "");
  EXPECT_THAT(loaded.ids(), ElementsAre("conv/one/CONV2D.CONV2D/general", "conv/one/CONV2D.CONV2D/im2col"));
  const std::vector<Case>& cases = loaded.result.cases;
  EXPECT_THAT(cases[0].forms, ElementsAre(words_4c1w, plain, words_4c1w));
  EXPECT_THAT(cases[1].forms, ElementsAre(words_4c, plain, words_4c));
  EXPECT_EQ(cases[0].data_key, cases[1].data_key);
  EXPECT_FALSE(cases[1].conv2d.awaits_device);
  EXPECT_EQ(form_text(cases[1], 0), "buffer/CONV2D(4C)");
  EXPECT_EQ(form_text(cases[1], 1), "buffer/WP");
}

TEST(Conv2dAlias, MayStandBesideAFormAndOneOfATensorAlone) {
  const Loaded loaded(
      "    forms: {x: {each: [buffer/CONV2D, buffer/4C1W, buffer/4W4C]}}\n    impl: general\n");
  ASSERT_EQ(loaded.errors(), "");
  EXPECT_THAT(loaded.ids(), ElementsAre("conv/one/CONV2D.4W4C/general", "conv/one/4C1W.4W4C/general",
                                        "conv/one/4W4C.4W4C/general"));
  const std::vector<Case>& cases = loaded.result.cases;
  EXPECT_EQ(cases[0].forms, cases[1].forms);
  EXPECT_FALSE(ask_for_same_forms(cases[0], cases[1]));
  EXPECT_FALSE(ask_for_same_forms(cases[1], cases[2]));
}

TEST(Conv2dAlias, IsInTheIdOfATensorThatHasOneFormToo) {
  Op op = conv_op();
  op.impls = {op.impls[0]};
  op.tensors = [](const Params& params) {
    std::vector<TensorSpec> tensors = conv_tensors(params);
    tensors[2].forms = {words_4c1w};
    return tensors;
  };
  const Loaded loaded("    forms: {each: [{}, {y: buffer/CONV2D}]}\n", op);
  ASSERT_EQ(loaded.errors(), "");
  EXPECT_THAT(loaded.ids(), ElementsAre("conv/one/4W4C/general", "conv/one/4W4C.CONV2D/general"));
}

TEST(Conv2dAlias, OfTwoImplsIsTheSameWish) {
  const Loaded loaded(std::string(both) + "    impl: {each: [general, im2col]}\n");
  EXPECT_TRUE(ask_for_same_forms(loaded.result.cases.at(0), loaded.result.cases.at(1)));
}

TEST(Conv2dAlias, OfAutoAwaitsADevice) {
  const Loaded loaded(std::string(both) + "    impl: auto\n");
  ASSERT_EQ(loaded.errors(), "");
  const Case& test_case = *loaded.selected.at(0);
  EXPECT_EQ(test_case.id, "conv/one/CONV2D.CONV2D/auto");
  EXPECT_TRUE(test_case.conv2d.awaits_device);
  EXPECT_EQ(form_text(test_case, 2), "buffer/CONV2D");
  const DeviceCases poor(loaded.selected, bare()), rich(loaded.selected, with_dot_product());
  EXPECT_THAT(poor.all()[0]->forms, ElementsAre(words_4c1w, plain, words_4c1w));
  EXPECT_THAT(rich.all()[0]->forms, ElementsAre(words_4c, plain, words_4c));
  for (const Case* settled : {poor.all()[0], rich.all()[0]}) {
    EXPECT_FALSE(settled->conv2d.awaits_device);
    EXPECT_EQ(settled->id, test_case.id);
    EXPECT_EQ(settled->data_key, test_case.data_key);
    EXPECT_TRUE(ask_for_same_forms(*settled, test_case));
  }
}

TEST(Conv2dAlias, LeavesOtherCasesAsTheyAre) {
  const Loaded loaded("    forms: {x: {each: [buffer/4C, buffer/CONV2D]}}\n    impl: all\n");
  const DeviceCases on_device(loaded.selected, bare());
  ASSERT_EQ(on_device.all().size(), 6U);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(on_device.all()[i] == loaded.selected[i], !loaded.selected[i]->conv2d.awaits_device) << i;
    EXPECT_EQ(on_device.all()[i]->id, loaded.selected[i]->id);
  }
}

// An impl may be better in some forms, so the impl taken in a layout must have that layout.
TEST(Conv2dAlias, IsTheLayoutInWhichAutoTakesAnImplOfThatLayout) {
  Op op = conv_op();
  op.impls[2].choose = [](const BuildContext& context) {
    const bool has_rows = context.forms[0] == words_4w4c;
    return has_rows ? std::vector<std::string>{"im2col", "general"}
                    : std::vector<std::string>{"general", "im2col"};
  };
  const Loaded loaded(std::string(both) + "    impl: auto\n", op);
  const DeviceCases on_device(loaded.selected, with_dot_product());
  EXPECT_EQ(on_device.all()[0]->forms[0], words_4c1w) << "in 4C it takes general";
}

TEST(Conv2dAlias, IsThatOfTheBestWhereNoneCanRun) {
  Op op = conv_op();
  op.impls[0].needs = {Feature::Int8};
  const Loaded loaded(std::string(both) + "    impl: auto\n", op);
  EXPECT_EQ(DeviceCases(loaded.selected, bare()).all()[0]->forms[0], words_4c);
}

TEST(Conv2dAlias, IsHeldAgainstConstraintsOnceItIsKnown) {
  Op op = conv_op();
  op.impls[1].invalid_reason = op.impls[2].invalid_reason = [](const ImplPoint& point) {
    return point.forms[0] == words_4c ? std::nullopt : std::optional<std::string>("rows only");
  };
  const Loaded loaded(std::string(both) + "    impl: {each: [im2col, auto]}\n", op);
  ASSERT_EQ(loaded.errors(), "");
  EXPECT_EQ(loaded.selected.at(0)->invalid, std::nullopt);
  EXPECT_EQ(loaded.selected.at(1)->invalid, std::nullopt) << "not known yet";
  EXPECT_EQ(DeviceCases(loaded.selected, bare()).all()[1]->invalid, "rows only");
  EXPECT_EQ(DeviceCases(loaded.selected, with_dot_product()).all()[1]->invalid, std::nullopt);
}

TEST(Conv2dAlias, OfAChoiceThatFailsIsLeftToTheRow) {
  Op op = conv_op();
  op.impls[2].choose = [](const BuildContext&) { return std::vector<std::string>(); };
  const Loaded loaded(std::string(both) + "    impl: auto\n", op);
  const DeviceCases on_device(loaded.selected, bare());
  EXPECT_FALSE(on_device.all()[0]->conv2d.awaits_device);
  EXPECT_EQ(on_device.all()[0]->forms[0], words_4w4c);
}

TEST(Conv2dAlias, IsRefusedWhereTheTensorHasNotAllThatItMayStandFor) {
  EXPECT_EQ(
      Loaded("    forms: {w: buffer/CONV2D}\n").errors(),
      R"(case.yaml:5:13: error: tensor 'w' (i8) does not accept the form buffer/CONV2D, which stands for buffer/4C1W or buffer/4C in conv; it accepts buffer/WP
        forms: {w: buffer/CONV2D}
                ^)");
}

TEST(Conv2dAlias, IsRefusedByOpsThatDoNotKnowIt) {
  const TemporaryFolder folder;
  const LoadResult result = load_text(folder, pixel_shuffle_case("    forms: {x: buffer/CONV2D}\n"));
  EXPECT_EQ(
      messages(folder, result.errors),
      R"(case.yaml:8:13: error: tensor 'x' (i8) does not accept the form buffer/CONV2D, which stands for a convolution's layout: no impl of q8ta_pixel_shuffle defines it; it accepts buffer/4W4C, buffer/4C1W
        forms: {x: buffer/CONV2D}
                ^)");
}

TEST(Conv2dAlias, IsAmongWhatATensorAccepts) {
  EXPECT_THAT(Loaded("    forms: {x: buffer/4W}\n").errors(),
              HasSubstr("does not accept the form buffer/4W; it accepts buffer/4W4C, buffer/4C, buffer/4C1W, "
                        "buffer/CONV2D\n"));
}

TEST(Conv2dAlias, IsSuggestedForWhatIsNearlyIt) {
  EXPECT_THAT(Loaded("    forms: {x: CONV2D}\n").errors(), HasSubstr("did you mean 'buffer/CONV2D'?"));
  EXPECT_THAT(Loaded("    forms: {x: buffer/CONV2}\n").errors(), HasSubstr("did you mean 'buffer/CONV2D'?"));
  EXPECT_THAT(Loaded("    forms: {x: texture3d/CONV2D}\n").errors(),
              HasSubstr("unknown form 'texture3d/CONV2D'"));
}

TEST(Conv2dAlias, IsToldByTheLongList) {
  const Loaded loaded(std::string(both) + "    impl: all\n");
  EXPECT_EQ(
      loaded.folder.without_path(listed(loaded.selected, true)),
      "  conv/one/CONV2D.CONV2D/general  accu  ci  case.yaml:3    CONV2D = 4C1W\n"
      "  conv/one/CONV2D.CONV2D/im2col   accu  ci  case.yaml:3    CONV2D = 4C\n"
      "  conv/one/CONV2D.CONV2D/auto     accu  ci  case.yaml:3    CONV2D = 4C1W or 4C, as auto chooses\n");
  const DeviceCases on_device(loaded.selected, with_dot_product());
  EXPECT_THAT(listed(on_device.all(), true), Not(HasSubstr("chooses")));
  EXPECT_THAT(conv2d_text(*on_device.all()[2]), "CONV2D = 4C");
  EXPECT_EQ(listed(on_device.all(), false), listed(loaded.selected, false));
}

TEST(Conv2dAlias, IsToldByTheDescriptionOfAnOp) {
  const Loaded loaded("");
  const std::string text = describe_op(loaded.registry.ops()[0], loaded.selected.at(0));
  EXPECT_THAT(text, HasSubstr("buffer/4W4C buffer/4C buffer/4C1W buffer/CONV2D\n"));
  EXPECT_THAT(text,
              HasSubstr("  im2col: rows of channels\n    needs shaderIntegerDotProduct\n    CONV2D is 4C\n"));
}

TEST(Conv2dAlias, IsInTheSchemaOfOpsThatKnowItAlone) {
  const Registry registry({conv_op(), *fake_ops().find("q8ta_pixel_shuffle")});
  const nlohmann::json definitions = nlohmann::json::parse(schema_json(registry)).at("$defs");
  EXPECT_THAT(definitions.at("conv.forms").dump(), HasSubstr("\"buffer/CONV2D\""));
  EXPECT_THAT(definitions.at("q8ta_pixel_shuffle.forms").dump(), Not(HasSubstr("CONV2D")));
}

}  // namespace
}  // namespace assay
