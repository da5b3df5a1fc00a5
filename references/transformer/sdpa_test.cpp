#include "references/transformer/sdpa.h"

#include "harness/base/error.h"
#include "references/transformer/golden_reals_test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace assay::references {
namespace {

using namespace test;
using testing::DoubleEq;
using testing::Each;
using testing::ElementsAre;
using testing::IsNan;

constexpr double endless = std::numeric_limits<double>::infinity();
constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

TEST(Sdpa, GivesTheGoldenVectors) {
  Params defaults;
  defaults.set("cache_dtype", std::string("float"));
  const Reference reference = [](Params params, std::span<const HostTensor> inputs) {
    if (params.has("cache")) params.set("cache_dtype", params.choice("cache"));
    params.set("scale", 1 / std::sqrt(static_cast<double>(params.integer("D"))));
    return sdpa(params, inputs);
  };
  expect_golden_reals("sdpa", 20, {"q", "k", "v", "k_scale", "v_scale", "mask"}, {"y"}, defaults, reference);
}

/// B 1, H 1 unless changed, D 2, scale 1.
Params attention(std::int64_t tokens, std::int64_t start, std::int64_t capacity, bool causal = true) {
  Params params;
  const std::int64_t one = 1, two = 2;
  params.set("B", one);
  params.set("H", one);
  params.set("Hkv", one);
  params.set("D", two);
  params.set("S", tokens);
  params.set("start_pos", start);
  params.set("C", capacity);
  params.set("causal", causal);
  params.set("mask", false);
  params.set("layout", std::string("bshd"));
  params.set("cache_dtype", std::string("float"));
  params.set("dtype", std::string("f32"));
  params.set("scale", 1.0);
  return params;
}

/// One query over `rows` of k and v.
Expected one_query(const Params& params, const std::vector<double>& q, const std::vector<double>& k,
                   const std::vector<double>& v, const std::vector<double>& mask = {}) {
  const auto rows = static_cast<std::int64_t>(k.size() / 2);
  std::vector<HostTensor> inputs{real_tensor(DType::F32, {1, 1, 1, 2}, q),
                                 real_tensor(DType::F32, {1, rows, 1, 2}, k),
                                 real_tensor(DType::F32, {1, rows, 1, 2}, v)};
  if (!mask.empty()) {
    inputs.push_back(real_tensor(DType::F32, {1, static_cast<std::int64_t>(mask.size())}, mask));
  }
  return sdpa(params, inputs)[0];
}

TEST(Sdpa, WeighsTheValuesOfVisibleKeysAlone) {
  const Expected y = one_query(attention(1, 1, 3), {1, 0}, {0, 5, std::log(3.0F), 5, no_number, no_number},
                               {4, 8, 8, 16, no_number, no_number});
  EXPECT_NEAR(y.values.at(0), 0.25 * 4 + 0.75 * 8, 1e-6);
  EXPECT_NEAR(y.values.at(1), 0.25 * 8 + 0.75 * 16, 1e-6);
}

TEST(Sdpa, ACausalQuerySeesNoLaterKey) {
  const std::vector<HostTensor> inputs{real_tensor(DType::F32, {1, 2, 1, 2}, {0, 0, 0, 0}),
                                       real_tensor(DType::F32, {1, 2, 1, 2}, {1, 1, no_number, 1}),
                                       real_tensor(DType::F32, {1, 2, 1, 2}, {3, 4, no_number, 5})};
  const Expected y = sdpa(attention(2, 0, 2), inputs)[0];
  EXPECT_EQ(y.values.at(0), 3);
  EXPECT_EQ(y.values.at(1), 4);
  EXPECT_THAT(y.values.at(2), IsNan());
  EXPECT_THAT(sdpa(attention(2, 0, 2, false), inputs)[0].values.as<double>(), Each(IsNan()));
}

TEST(Sdpa, AMaskHidesOrShiftsAndWithoutAKeyThereAreZeros) {
  Params params = attention(1, 1, 2);
  params.set("mask", true);
  EXPECT_THAT(one_query(params, {1, 1}, {no_number, 1, 1, 1}, {no_number, 1, 7, 9}, {-endless, 5})
                  .values.as<double>(),
              ElementsAre(DoubleEq(7), DoubleEq(9)));
  EXPECT_THAT(
      one_query(params, {no_number, 1}, {no_number, 1, 1, 1}, {no_number, 1, 7, 9}, {-endless, -endless})
          .values.as<double>(),
      ElementsAre(0, 0));
}

TEST(Sdpa, NanOfAVisibleKeyIsInTheRowAndThatOfAValueInItsColumn) {
  const Params params = attention(1, 1, 2);
  EXPECT_THAT(one_query(params, {1, 1}, {no_number, 1, 1, 1}, {1, 1, 1, 1}).values.as<double>(),
              Each(IsNan()));
  EXPECT_THAT(one_query(params, {1, 1}, {1, 1, 1, 1}, {1, no_number, 1, 1}).values.as<double>(),
              ElementsAre(1, IsNan()));
  EXPECT_THAT(one_query(params, {1, 1}, {1, 1, -1000, -1000}, {1, 1, 1, no_number}).values.as<double>(),
              ElementsAre(1, IsNan()))
      << "also where its weight is 0";
}

TEST(Sdpa, MagnitudesHaveTheSizesOfScoresAndOfWhatHalfWeightsLose) {
  // Scores 0 = 2 - 2 and 0; weights 1/2; a = 4 and 0, A = 2.
  const Expected y = one_query(attention(1, 1, 2), {1, 1}, {2, -2, 0, 0}, {8, 0, 2, 0});
  constexpr float common = 1 + 50.0F / (2 + 104);  // the largest score is raised once
  EXPECT_FLOAT_EQ(y.magnitude[0], 0.5F * 8 * (common + 4 + 2) + 0.5F * 2 * (common + 0 + 2));
  EXPECT_FLOAT_EQ(y.sums[0], 0.5F * 8 + 0.5F * 2 + 0x1p-13F * 10 / 2);
  EXPECT_FLOAT_EQ(y.bound[0], 0x1p-126F * 11);
  EXPECT_EQ(y.magnitude[1], 0);
  EXPECT_EQ(y.sums[1], 0);
}

TEST(Sdpa, MagnitudesGrowWithTheTimesThatTheLargestScoreCanBeRaised) {
  // All values are 1, so that y and the sum of weights are, and scores next to 0 add nothing.
  const auto magnitude = [](const std::vector<double>& scores) {
    std::vector<double> k;
    for (const double score : scores) k.insert(k.end(), {score, 0});
    const auto keys = static_cast<std::int64_t>(scores.size());
    return one_query(attention(1, keys - 1, keys), {0.001, 0}, k, std::vector<double>(k.size(), 1))
        .magnitude[0];
  };
  constexpr double each = 50.0 / 106;
  EXPECT_NEAR(magnitude({3, 3, 3, 3}), 1 + each, 0.02) << "equal scores raise nothing after the first";
  EXPECT_NEAR(magnitude({4, 3, 2, 1}), 1 + each, 0.02);
  EXPECT_NEAR(magnitude({1, 2, 3, 4}), 1 + 4 * each, 0.02);
  EXPECT_NEAR(magnitude({4, 1, 3, 2}), 1 + 2 * each, 0.02) << "keys 1 and 3, if another group has the first";
}

TEST(Sdpa, HeadsOfAGroupShareTheCacheInBothLayouts) {
  Params params = attention(1, 0, 2);
  params.set("H", std::int64_t{4});
  params.set("Hkv", std::int64_t{2});
  const HostTensor q = real_tensor(DType::F32, {1, 1, 4, 2}, {1, 1, 1, 1, 1, 1, 1, 1});
  const HostTensor by_rows =
      real_tensor(DType::F32, {1, 2, 2, 2}, {1, 2, 3, 4, no_number, no_number, no_number, no_number});
  EXPECT_THAT(sdpa(params, std::vector{q, by_rows, by_rows})[0].values.as<double>(),
              ElementsAre(1, 2, 1, 2, 3, 4, 3, 4));
  params.set("layout", std::string("bhsd"));
  const HostTensor by_heads =
      real_tensor(DType::F32, {1, 2, 2, 2}, {1, 2, no_number, no_number, 3, 4, no_number, no_number});
  EXPECT_THAT(sdpa(params, std::vector{q, by_heads, by_heads})[0].values.as<double>(),
              ElementsAre(1, 2, 1, 2, 3, 4, 3, 4));
}

std::string refusal(const Params& params) {
  try {
    sdpa_params(params);
  } catch (const ParameterError& error) {
    return error.parameter() + ": " + error.what();
  }
  return "accepted";
}

TEST(Sdpa, RefusesHeadsThatAreNotSharedEvenlyAndACacheThatIsTooSmall) {
  Params params = attention(2, 3, 5);
  EXPECT_EQ(refusal(params), "accepted");
  params.set("C", std::int64_t{4});
  EXPECT_THAT(refusal(params), testing::HasSubstr("C: C is 4, but must be at least 5"));
  params = attention(2, 3, 5);
  params.set("Hkv", std::int64_t{2});
  EXPECT_THAT(refusal(params), testing::HasSubstr("Hkv: Hkv is 2, but must divide H, the 1 heads"));
}

}  // namespace
}  // namespace assay::references
