#include "references/transformer/rotary_embedding.h"

#include "harness/base/error.h"
#include "references/transformer/golden_reals_test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace assay::references {
namespace {

using namespace test;
using testing::ElementsAre;

Params rotary_of(const Shape& shape, std::int64_t turned, const std::string& pairs, std::int64_t start = 0,
                 std::int64_t positions = 4) {
  Params params;
  params.set("shape", shape);
  params.set("dtype", std::string("f32"));
  params.set("pairs", pairs);
  params.set("rotary_dim", turned);
  params.set("start_pos", start);
  params.set("positions", positions);
  return params;
}

TEST(RotaryEmbedding, GivesTheGoldenVectors) {
  Params defaults;
  defaults.set("positions", std::int64_t{1 << 20});  // the tables' rows have the same length, however many
  expect_golden_reals("rotary_embedding", 20, {"x", "cos", "sin"}, {"y"}, defaults, rotary_embedding);
}

/// One head of five values, of which four turn by the second row of the tables.
Expected one_head(const std::string& pairs, const std::vector<double>& x) {
  const std::vector<HostTensor> inputs{real_tensor(DType::F32, {1, 1, 1, 5}, x),
                                       real_tensor(DType::F32, {2, 2}, {9, 9, 0.5, 0.25}),
                                       real_tensor(DType::F32, {2, 2}, {9, 9, 1, -1})};
  return rotary_embedding(rotary_of({1, 1, 1, 5}, 4, pairs, 1, 2), inputs)[0];
}

TEST(RotaryEmbedding, TurnsHalvesOrNeighboursAndCopiesTheRest) {
  EXPECT_THAT(one_head("half_split", {1, 2, 4, 8, 7}).values.as<double>(),
              ElementsAre(0.5 - 4, 0.5 + 8, 1 + 2, -2 + 2, 7));
  EXPECT_THAT(one_head("interleaved", {1, 2, 4, 8, 7}).values.as<double>(),
              ElementsAre(0.5 - 2, 1 + 1, 1 + 8, -4 + 2, 7));
}

TEST(RotaryEmbedding, MagnitudesAreTheSumsOfBothProductsAndCopiesAreExact) {
  const Expected y = one_head("half_split", {1, 2, 4, 8, 7});
  EXPECT_THAT(y.magnitude, ElementsAre(4.5, 8.5, 3, 4, 0));
  EXPECT_EQ(y.bound[0], 0x1p-126F);
  EXPECT_EQ(y.bound[4], 0);
}

TEST(RotaryEmbedding, AFlushedFactorMayTakeItsProductAway) {
  const Expected y = one_head("half_split", {0x1p-127, 2, 4, 8, 7});
  EXPECT_FLOAT_EQ(y.bound[0], 0x1p-126F + 0x1p-128F);
  EXPECT_FLOAT_EQ(y.bound[2], 0x1p-126F + 0x1p-127F);
}

TEST(RotaryEmbedding, InfinityTimesWhatMayBeFlushedIsInfinityOrNan) {
  const std::vector<HostTensor> inputs{
      real_tensor(DType::F32, {1, 1, 1, 2}, {std::numeric_limits<double>::infinity(), 1}),
      real_tensor(DType::F32, {4, 1}, {0x1p-130, 0, 0, 0}), real_tensor(DType::F32, {4, 1}, {1, 0, 0, 0})};
  const Expected y = rotary_embedding(rotary_of({1, 1, 1, 2}, 2, "interleaved"), inputs)[0];
  EXPECT_EQ(y.bound[0], std::numeric_limits<float>::infinity());
  EXPECT_EQ(y.bound[1], 0) << "nothing vanishes";
}

std::string rotary_refusal(const Params& params) {
  try {
    rotary_embedding_params(params);
  } catch (const ParameterError& error) {
    return error.parameter() + ": " + error.what();
  }
  return "accepted";
}

TEST(RotaryEmbedding, RefusesOddPartsAndPositionsWithoutARow) {
  EXPECT_THAT(rotary_refusal(rotary_of({1, 3, 1, 8}, 5, "half_split")),
              testing::HasSubstr("rotary_dim: rotary_dim is 5"));
  EXPECT_THAT(rotary_refusal(rotary_of({1, 3, 1, 8}, 10, "half_split")), testing::HasSubstr("at most 8"));
  EXPECT_THAT(rotary_refusal(rotary_of({1, 3, 1, 8}, 8, "half_split", 2, 4)),
              testing::HasSubstr("positions is 4, but must be at least 5"));
  EXPECT_EQ(rotary_refusal(rotary_of({1, 3, 1, 8}, 8, "half_split", 1, 4)), "accepted");
}

}  // namespace
}  // namespace assay::references
