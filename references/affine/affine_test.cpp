#include "harness/base/error.h"
#include "references/affine/affine_test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::references {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::HasSubstr;

std::string refusal(const Params& params) {
  try {
    affine(params);
  } catch (const ParameterError& error) {
    return error.parameter() + ": " + error.what();
  }
  return "accepted";
}

TEST(AffineParameters, MinusOneInABlockSizeIsTheWholeDim) {
  const Affine checked = affine(affine_params({7, 10}, {-1, 4}));
  EXPECT_THAT(checked.grid.block, ElementsAre(7, 4));
  EXPECT_THAT(checked.grid.counts, ElementsAre(1, 3));
}

TEST(AffineParameters, AnI32HoldsTheRangeOfAnI16) {
  EXPECT_EQ(quant_range(DType::I32).min, -32768);
  EXPECT_EQ(quant_range(DType::I32).max, 32767);
  EXPECT_EQ(quant_range(DType::U8).max, 255);
  Params params = affine_params({4}, {2});
  params.set("quantized", std::string("i32"));
  params.set("quant_max", std::int64_t{32768});
  EXPECT_THAT(refusal(params), HasSubstr("holds -32768 to 32767"));
}

TEST(AffineParameters, ABlockLargerThanItsDimIsRefused) {
  EXPECT_THAT(refusal(affine_params({8, 6}, {2, 7})), HasSubstr("block_size: block_size[1] is 7"));
  EXPECT_THAT(refusal(affine_params({8, 6}, {0, 6})), HasSubstr("block_size: block_size[0] is 0"));
}

TEST(AffineParameters, ABlockOfAnotherRankIsRefused) {
  EXPECT_THAT(refusal(affine_params({8, 6}, {2})), HasSubstr("block_size: block_size has 1 entries"));
}

TEST(AffineParameters, ARangeThatTheTypeCannotHoldIsRefused) {
  Params params = affine_params({4}, {2});
  params.set("quant_max", std::int64_t{128});
  EXPECT_THAT(refusal(params), HasSubstr("quant_max: quant_max is 128"));
  params.set("quant_max", std::int64_t{-128});
  EXPECT_THAT(refusal(params), HasSubstr("must be above quant_min"));
}

TEST(AffineRuns, CoverEveryElementOnceInItsOwnBlock) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const Affine checked = affine(random_affine_params(random));
    std::int64_t next = 0;
    for_each_run(checked.grid, 0, row_count(checked.grid), [&](BlockRun run) {
      EXPECT_EQ(run.first, next);
      for (std::int64_t i = run.first; i < run.first + run.count; ++i) {
        EXPECT_EQ(run.block, plain_block_of(checked, i)) << to_string(checked.grid.shape) << " element " << i;
      }
      next += run.count;
    });
    EXPECT_EQ(next, numel(checked.grid.shape));
  }
}

}  // namespace
}  // namespace assay::references
