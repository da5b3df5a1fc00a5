#include "harness/cases/describe/describe.h"

#include "harness/base/error.h"
#include "harness/cases/select.h"
#include "harness/cases/tests/case_file_test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using namespace test;
using testing::HasSubstr;

TEST(Describe, ListsCasesByIdOneALine) {
  const std::vector<Case> loaded = load_good(pixel_shuffle_case("    impl: all\n"));
  EXPECT_EQ(listed(select(loaded, {}), false),
            "q8ta_pixel_shuffle/one/4W4C.4W4C/fused\n"
            "q8ta_pixel_shuffle/one/4W4C.4W4C/unfused\n");
}

TEST(Describe, ListsCasesWithModeTierAndPlace) {
  const TemporaryFolder folder;
  const LoadResult result =
      load_text(folder, pixel_shuffle_case("    impl: all\n    mode: perf\n    tier: nightly\n"));
  EXPECT_EQ(folder.without_path(listed(select(result.cases, {}), true)),
            "  q8ta_pixel_shuffle/one/4W4C.4W4C/fused    perf  nightly  case.yaml:3\n"
            "  q8ta_pixel_shuffle/one/4W4C.4W4C/unfused  perf  nightly  case.yaml:3\n");
}

TEST(Describe, ListsTheLayerOfAModelBehindThePlace) {
  const TemporaryFolder folder;
  const LoadResult result = load_text(
      folder, pixel_shuffle_case("    model: net\n    with: {each: [{layer: up, calls: 2}, {seed: 3}]}\n"));
  EXPECT_EQ(folder.without_path(listed(select(result.cases, {}), true)),
            "  q8ta_pixel_shuffle/one/up/4W4C.4W4C/fused  accu  ci  case.yaml:3  net up x2\n"
            "  q8ta_pixel_shuffle/one/3/4W4C.4W4C/fused   accu  ci  case.yaml:3  net\n");
}

TEST(Describe, ListsOpsWithTheirSummaries) {
  EXPECT_EQ(list_ops(fake_ops()),
            "  q8ta_pixel_shuffle  pixel shuffle on int8x4 tensors, with requantization\n"
            "  quantize_affine     real to integer values, one scale and zero point a block\n"
            "  q8ta_dequantize     int8 to real values\n");
}

TEST(Describe, ShowsParametersTensorsAndImplsOfAnOp) {
  const std::vector<Case> loaded = load_good(pixel_shuffle_case(""));
  EXPECT_EQ(describe_op(*fake_ops().find("q8ta_pixel_shuffle"), &loaded.at(0)),
            R"(q8ta_pixel_shuffle: pixel shuffle on int8x4 tensors, with requantization

parameters
  shape           shape    4 dims >= 1                      required  of x
  upscale_factor  integer  1..64                            required
  x               qparams  scale > 0, zero_point -128..127  required
  y               qparams  scale > 0, zero_point -128..127  required

tensors
  x  input   i8  1x16x4x4         buffer/4W4C buffer/4C1W
  y  output  i8  1x4x8x8   exact  buffer/4W4C buffer/4C1W
  (for the case q8ta_pixel_shuffle/one/4W4C.4W4C/fused: the tensors of q8ta_pixel_shuffle depend on its parameters)

impls
  fused: one dispatch
    needs shaderInt8
    tune local_size 1..1024, default chosen by the impl: invocations of a workgroup
  unfused: five dispatches
)");
}

TEST(Describe, ShowsTypesAndDefaultsOfEveryKindOfParameter) {
  const std::string text = describe_op(*fake_ops().find("quantize_affine"));
  EXPECT_EQ(text.substr(text.find("parameters"), text.find("impls") - text.find("parameters")),
            R"(parameters
  shape       shape     1 to 4 dims >= 1  required
  block_size  integers  1 to 4 entries    required       elements of a block; -1 is the whole dim
  dtype       choice    f32 | f16         default f32
  quantized   choice    i8 | u8 | i32     default i8
  quant_min   integer                     default -128
  quant_max   integer                     default 127
  eps         number                      default 0.5
  symmetric   boolean   true | false      default false

tensors
  they depend on the parameters, and no case of this op is loaded as an example

)");
}

const char* const page = R"(# Ops

| op | what it does |
|---|---|
| [`b`](#b) | second |
| [`d`](#d) | fourth |

## b

second

## d

fourth
)";

std::string with(const std::string& name) {
  return with_op_added(page, name, "| [`" + name + "`](#" + name + ") | new |\n",
                       "\n## " + name + "\n\nnew\n");
}

TEST(OpsPageText, HasARowAndASectionForEachOp) {
  const std::string text = ops_page(test::fake_ops(), {}, nullptr);
  EXPECT_THAT(text, HasSubstr(ops_page_command));
  EXPECT_THAT(text, HasSubstr("\n|---|---|\n| [`q8ta_dequantize`](#q8ta_dequantize) | int8 to real values |\n"
                              "| [`q8ta_pixel_shuffle`](#q8ta_pixel_shuffle) | pixel shuffle on int8x4 "
                              "tensors, with requantization |\n| [`quantize_affine`](#quantize_affine) | "));
  EXPECT_THAT(text, HasSubstr("\n\n## q8ta_pixel_shuffle\n\npixel shuffle on int8x4"));
  EXPECT_THAT(text, HasSubstr("\n| `upscale_factor` | integer | 1..64 | required |  |\n"));
  EXPECT_THAT(text, HasSubstr("\n| `fused` | one dispatch | `shaderInt8` | `local_size` |\n"));
  EXPECT_THAT(text, HasSubstr("\n| `dtype` | choice | f32 \\| f16 | f32 |  |\n"))
      << "a bar would end the cell";
}

TEST(OpsPageText, NamesTheOpsOwnReferenceWhereverItIs) {
  Op op = *test::fake_ops().find("q8ta_pixel_shuffle");
  op.files = {"ops/some/x.cpp", "references/common/bounds.h", "references/some/q8ta_pixel_shuffle.cpp",
              "references/some/q8ta_pixel_shuffle.h", "references/some/q8ta_pixel_shuffle_rows.h"};
  EXPECT_THAT(ops_page(Registry({op}), {}, nullptr),
              HasSubstr("\n| reference | `references/some/q8ta_pixel_shuffle.cpp`, "
                        "`references/some/q8ta_pixel_shuffle.h` |\n"));
}

TEST(OpsPageText, NamesTheReferencesOfTheFamilyIfNoneIsNamedAfterTheOp) {
  Op op = *test::fake_ops().find("q8ta_pixel_shuffle");
  op.files = {"ops/some/x.cpp", "references/common/bounds.h", "references/some/shuffles.h"};
  EXPECT_THAT(ops_page(Registry({op}), {}, nullptr),
              HasSubstr("\n| reference | `references/some/shuffles.h` |\n"));
}

TEST(OpsPageText, TakesANewOpWhereItsNameBelongs) {
  EXPECT_EQ(with("c"), R"(# Ops

| op | what it does |
|---|---|
| [`b`](#b) | second |
| [`c`](#c) | new |
| [`d`](#d) | fourth |

## b

second

## c

new

## d

fourth
)");
  EXPECT_THAT(with("a"), HasSubstr("|---|---|\n| [`a`](#a) | new |\n| [`b`]"));
  EXPECT_THAT(with("a"), HasSubstr("| fourth |\n\n## a\n\nnew\n\n## b\n"));
  EXPECT_THAT(with("e"), HasSubstr("| fourth |\n| [`e`](#e) | new |\n\n## b\n"));
  EXPECT_TRUE(with("e").ends_with("## d\n\nfourth\n\n## e\n\nnew\n")) << with("e");
}

TEST(OpsPageText, RefusesAnotherTextAndAnOpThatItHas) {
  EXPECT_THROW(with_op_added("# Something else\n", "a", "", ""), Error);
  EXPECT_THROW(with("b"), Error);
}

}  // namespace

}  // namespace assay
