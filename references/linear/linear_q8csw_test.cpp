#include "references/linear/linear_q8csw.h"

#include "references/linear/linear.h"
#include "references/linear/linear_test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace assay::references {
namespace {

using namespace test;

using testing::ElementsAre;

Expected q8csw_answer(const Params& params, const std::vector<HostTensor>& inputs) {
  std::vector<Expected> outputs = linear_q8csw(params, inputs);
  EXPECT_EQ(outputs.size(), 1U);
  return std::move(outputs.at(0));
}

std::vector<double> values_of(const Expected& expected) {
  const auto all = expected.values.as<double>();
  return {all.begin(), all.end()};
}

TEST(LinearQ8csw, ScalesChannelsAndAddsTheBias) {
  Params params = linear_case(2, 3, 2);
  std::vector<HostTensor> inputs{floats({2, 3}, {1, -2, 0.5F, 0, 4, -1}),
                                 int8s({2, 3}, {1, 2, -128, 127, 0, 2}), floats({2}, {0.5F, 0.25F})};
  EXPECT_THAT(values_of(q8csw_answer(params, inputs)), ElementsAre(-33.5, 32, 68, -0.5));
  params.set("bias", true);
  inputs.push_back(floats({2}, {0.5F, -32}));
  const Expected biased = q8csw_answer(params, inputs);
  EXPECT_THAT(values_of(biased), ElementsAre(-33, 0, 68.5, -32.5));
  // Sums of |x||w| are 69, 128, 136, 2.
  const std::vector<float> least{35, 64, 68.5F, 32.5F};
  for (std::size_t i = 0; i < least.size(); ++i) {
    EXPECT_GE(biased.magnitude[i], least[i]) << i;
    EXPECT_LE(biased.magnitude[i], least[i] * (1 + 0x1p-14F)) << i;
  }
  params.set("activation", std::string("relu"));
  EXPECT_THAT(values_of(q8csw_answer(params, inputs)), ElementsAre(0, 0, 68.5, 0));
}

TEST(LinearQ8csw, BatchesAreMoreRowsAndHalvesAreRead) {
  Params params = linear_case(1, 2, 2);
  params.set("batch", Shape{3, 1});
  params.set("dtype", std::string("f16"));
  const Expected y = q8csw_answer(params, {halves({3, 1, 1, 2}, {1, 2, 3, 4, 5, 6}),
                                           int8s({2, 2}, {1, 0, 0, 1}), floats({2}, {1, 0.5F})});
  EXPECT_THAT(y.values.shape(), ElementsAre(3, 1, 1, 2));
  EXPECT_THAT(values_of(y), ElementsAre(1, 1, 3, 2, 5, 3));
  EXPECT_THAT(y.bound, ElementsAre(0x1p-10F, 0x1p-10F, 0x1p-9F, 0x1p-9F, 0x1p-8F, 0x1p-9F));
}

TEST(LinearQ8csw, NaNAndInfinitiesGiveWhatRealArithmeticDoes) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  Params params = linear_case(2, 2, 2);
  params.set("activation", std::string("relu"));
  const Expected y = q8csw_answer(params, {floats({2, 2}, {infinity, 1, std::nanf(""), 1}),
                                           int8s({2, 2}, {1, 1, -1, 1}), floats({2}, {1, 1})});
  EXPECT_EQ(y.values.at(0), infinity);
  EXPECT_EQ(y.values.at(1), 0);
  EXPECT_TRUE(std::isnan(y.values.at(2)));
  EXPECT_EQ(y.magnitude[0], 0);
  EXPECT_EQ(y.magnitude[2], 0);
}

TEST(LinearQ8csw, GivesTheGoldenVectors) {
  const std::vector<Golden> vectors = golden_vectors("linear_q8csw");
  EXPECT_EQ(vectors.size(), 16U);
  for (const Golden& golden : vectors) {
    const Expected y =
        q8csw_answer(linear_case(golden), golden_inputs(golden, {"x", "w", "w_scale", "bias"}));
    EXPECT_TRUE(near(y.values, golden.tensor("y"), y.magnitude, 1e-6)) << golden.name;
  }
}

}  // namespace
}  // namespace assay::references
