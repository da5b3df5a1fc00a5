#include "harness/cases/describe/ops_page.h"

#include "harness/base/error.h"
#include "harness/cases/tests/fake_ops_test_support.h"

#include <gmock/gmock.h>

namespace assay {
namespace {

using testing::HasSubstr;

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
