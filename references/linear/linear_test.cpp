#include "references/linear/linear.h"

#include "harness/base/error.h"
#include "references/linear/linear_test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace assay::references {
namespace {

using namespace test;

using testing::ElementsAre;
using testing::HasSubstr;

std::string refusal(const Params& params, std::int64_t largest_depth) {
  try {
    linear_params(params, largest_depth);
  } catch (const ParameterError& error) {
    return error.parameter() + ": " + error.what();
  }
  return "accepted";
}

TEST(Linear, BatchStandsBeforeTheRows) {
  Params params = linear_case(3, 64, 5, 16);
  params.set("batch", Shape{2, 7});
  const Linear linear = linear_params(params, any_depth);
  EXPECT_EQ(linear.rows(), 42);
  EXPECT_EQ(linear.groups(), 4);
  EXPECT_THAT(linear.x_shape(), ElementsAre(2, 7, 3, 64));
  EXPECT_THAT(linear.y_shape(), ElementsAre(2, 7, 3, 5));
  EXPECT_THAT(linear.row_shape(), ElementsAre(2, 7, 3));
}

TEST(Linear, RefusesDepthsWhoseSumsCouldLeaveInt32) {
  EXPECT_EQ(refusal(linear_case(1, 65535, 1), most_depth_with_zero_point), "accepted");
  EXPECT_THAT(refusal(linear_case(1, 65536, 1), most_depth_with_zero_point), HasSubstr("K: K is 65536"));
  EXPECT_EQ(refusal(linear_case(1, 1 << 20, 1), any_depth), "accepted");
  EXPECT_LE(most_depth * 128 * 128, std::numeric_limits<std::int32_t>::max());
  EXPECT_LE(most_depth_with_zero_point * 255 * 128, std::numeric_limits<std::int32_t>::max());
}

TEST(Linear, RefusesGroupsThatShareAWordOrDoNotFillARow) {
  EXPECT_THAT(refusal(linear_case(1, 96, 1, 12), any_depth), HasSubstr("group_size: group_size is 12"));
  EXPECT_EQ(refusal(linear_case(1, 192, 1, 96), any_depth), "accepted");
  EXPECT_THAT(refusal(linear_case(1, 128, 1, 96), any_depth), HasSubstr("group_size: group_size is 96"));
}

TEST(Linear, ReluKeepsNaNAndMakesNoNegativeZero) {
  Linear linear;
  EXPECT_EQ(linear.activated(-2.5), -2.5);
  linear.activation = Activation::Relu;
  EXPECT_EQ(linear.activated(-2.5), 0);
  EXPECT_EQ(linear.activated(2.5F), 2.5F);
  EXPECT_FALSE(std::signbit(linear.activated(-0.0F)));
  EXPECT_TRUE(std::isnan(linear.activated(std::nanf(""))));
}

TEST(Linear, BiasIsTheLastInputOrNone) {
  const std::vector<HostTensor> inputs{int8s({1}, {1}), floats({2}, {3, 4})};
  Linear linear;
  EXPECT_TRUE(bias_of(linear, inputs).empty());
  linear.bias = true;
  EXPECT_THAT(bias_of(linear, inputs), ElementsAre(3, 4));
}

}  // namespace
}  // namespace assay::references
