#include "references/convolution/convolution.h"

#include "harness/base/error.h"
#include "references/convolution/convolution_test_support.h"
#include "tests/support/error_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace assay::references {
namespace {

using namespace test;

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

std::string refusal(const ConvolutionSizes& sizes, std::int64_t largest_depth = any_depth) {
  try {
    convolution_params(convolution_case(sizes), largest_depth);
  } catch (const ParameterError& error) {
    return error.parameter() + ": " + error.what();
  }
  return "accepted";
}

HeightWidth size_of_y(const ConvolutionSizes& sizes) {
  return convolution_params(convolution_case(sizes), any_depth).size_of_y();
}

TEST(Convolution, ReadsItsParameters) {
  Params params = convolution_case({.n = 2, .c = 6, .h = 9, .w = 4, .oc = 9, .kernel = {3, 2}, .groups = 3});
  params.set("bias", true);
  params.set("activation", std::string("relu"));
  params.set("dtype", std::string("f16"));
  const Convolution conv = convolution_params(params, any_depth);
  EXPECT_FALSE(conv.transposed);
  EXPECT_EQ(conv.real, DType::F16);
  EXPECT_EQ(conv.depth(), 12);
  EXPECT_THAT(conv.x_shape(), ElementsAre(2, 6, 9, 4));
  EXPECT_THAT(conv.w_shape(), ElementsAre(9, 2, 3, 2));
  EXPECT_THAT(conv.y_shape(), ElementsAre(2, 9, 7, 3));
  EXPECT_EQ(conv.pixels_of_y(), 42);
  const Linear linear = conv.linear_of_group();
  EXPECT_THAT(linear.x_shape(), ElementsAre(42, 12));
  EXPECT_THAT(linear.y_shape(), ElementsAre(42, 3));
  EXPECT_TRUE(linear.bias);
  EXPECT_EQ(linear.activation, Activation::Relu);
  EXPECT_EQ(linear.real, DType::F16);
}

TEST(Convolution, OutputPaddingMakesItTransposed) {
  const Params params = convolution_case(
      {.c = 6, .h = 3, .w = 4, .oc = 9, .kernel = {3, 2}, .groups = 3, .output_padding = Pair{0, 0}});
  const Convolution conv = convolution_params(params, any_depth);
  EXPECT_TRUE(conv.transposed);
  EXPECT_THAT(conv.w_shape(), ElementsAre(6, 3, 3, 2));
  EXPECT_THAT(conv.y_shape(), ElementsAre(1, 9, 5, 5));
}

TEST(Convolution, SizeOfYLeavesOutStridesThatDoNotFit) {
  EXPECT_THAT(size_of_y({.h = 77, .w = 78, .kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1}}),
              ElementsAre(39, 39));
  EXPECT_THAT(size_of_y({.h = 9, .w = 11, .kernel = {3, 5}, .stride = {1, 2}, .padding = {0, 2}}),
              ElementsAre(7, 6));
  EXPECT_THAT(size_of_y({.h = 7, .w = 8, .kernel = {3, 3}, .stride = {3, 3}, .dilation = {3, 2}}),
              ElementsAre(1, 2));
  EXPECT_THAT(size_of_y({.h = 2, .w = 3, .kernel = {5, 7}, .padding = {2, 2}}), ElementsAre(2, 1));
}

TEST(Convolution, SizeOfYHasThePaddingOfBothSides) {
  EXPECT_THAT(size_of_y({.h = 8, .w = 9, .kernel = {3, 3}, .padding = {1, 0}, .padding_end = Pair{0, 4}}),
              ElementsAre(7, 11));
  EXPECT_THAT(size_of_y({.h = 8, .w = 8, .kernel = {3, 3}, .stride = {2, 2}, .padding_end = Pair{1, 0}}),
              ElementsAre(4, 3));
  EXPECT_THAT(size_of_y({.h = 4,
                         .w = 5,
                         .kernel = {3, 3},
                         .padding = {2, 0},
                         .padding_end = Pair{1, 3},
                         .output_padding = Pair{0, 0}}),
              ElementsAre(3, 4));
}

TEST(Convolution, ATapMeetsXAfterThePaddingBeforeIt) {
  const Convolution conv = convolution_params(
      convolution_case({.h = 4, .w = 4, .kernel = {3, 3}, .padding = {2, 1}, .padding_end = Pair{0, 3}}),
      any_depth);
  EXPECT_EQ(conv.met(0, 0, 1), std::nullopt);
  EXPECT_EQ(conv.met(0, 0, 2), 0);
  EXPECT_EQ(conv.met(1, 0, 1), 0);
  EXPECT_EQ(conv.met(1, 4, 0), 3);
  EXPECT_EQ(conv.met(1, 4, 1), std::nullopt);
}

TEST(Convolution, PaddingHasTwoOrFourSides) {
  Params params = convolution_case({.h = 4, .w = 4, .kernel = {3, 3}});
  params.set("padding", std::vector<std::int64_t>{1, 1, 0});
  EXPECT_EQ(error_of([&] { convolution_params(params, any_depth); }),
            "padding has 3 entries, but must be [h, w] or [top, left, bottom, right]");
  EXPECT_NO_THROW(checked_convolution(params)) << "the default of y is derived before parameters are checked";
  params.set("padding", std::vector<std::int64_t>{1, 1, 1, 1});
  EXPECT_THAT(convolution_params(params, any_depth).size_of_y(), ElementsAre(4, 4));
}

TEST(Convolution, SizeOfYOfTransposedOnesUndoesThatOfOthers) {
  EXPECT_THAT(size_of_y({.h = 8,
                         .w = 8,
                         .kernel = {3, 3},
                         .stride = {2, 2},
                         .padding = {1, 1},
                         .output_padding = Pair{1, 0}}),
              ElementsAre(16, 15));
  EXPECT_THAT(size_of_y({.h = 5,
                         .w = 1,
                         .kernel = {4, 2},
                         .stride = {2, 3},
                         .padding = {1, 0},
                         .dilation = {1, 4},
                         .output_padding = Pair{0, 3}}),
              ElementsAre(10, 8));
}

TEST(Convolution, RefusesGroupsThatDoNotDivideTheChannels) {
  EXPECT_THAT(refusal({.c = 6, .oc = 8, .groups = 4}),
              StartsWith("groups: groups is 4, but must divide C, which is 6"));
  EXPECT_THAT(refusal({.c = 8, .oc = 6, .groups = 4}),
              StartsWith("groups: groups is 4, but must divide OC, which is 6"));
  EXPECT_EQ(refusal({.c = 8, .oc = 4, .groups = 4}), "accepted");
}

TEST(Convolution, RefusesDepthsWhoseSumsCouldLeaveInt32) {
  ConvolutionSizes sizes{.c = 13107, .h = 1, .w = 5, .oc = 1, .kernel = {1, 5}};
  EXPECT_EQ(refusal(sizes, most_depth_with_zero_point), "accepted");
  sizes.c = 13108;
  EXPECT_THAT(refusal(sizes, most_depth_with_zero_point),
              StartsWith("C: an output sums 65540 products, but the sums of more than 65535"));
  EXPECT_EQ(refusal(sizes), "accepted");
  sizes.groups = 2;
  EXPECT_THAT(refusal(sizes), StartsWith("groups: "));
  sizes.oc = 2;
  EXPECT_EQ(refusal(sizes, most_depth_with_zero_point), "accepted");
}

TEST(Convolution, RefusesAnEmptyY) {
  EXPECT_THAT(refusal({.h = 2, .w = 9, .kernel = {3, 3}}), StartsWith("kernel: y would be 0 x 7"));
  EXPECT_THAT(refusal({.h = 9, .w = 4, .kernel = {3, 3}, .stride = {1, 9}, .dilation = {1, 2}}),
              StartsWith("kernel: y would be 7 x 0"));
  EXPECT_EQ(refusal({.h = 2, .w = 9, .kernel = {4, 3}, .padding = {1, 0}}), "accepted");
  EXPECT_THAT(refusal({.h = 1, .w = 3, .kernel = {2, 1}, .padding = {1, 1}, .output_padding = Pair{0, 0}}),
              StartsWith("kernel: y would be 0 x 1"));
  EXPECT_EQ(refusal({.h = 2, .w = 3, .kernel = {2, 1}, .padding = {1, 1}, .output_padding = Pair{0, 0}}),
            "accepted");
}

TEST(Convolution, RefusesOutputPaddingThatAddsOnlyZeros) {
  ConvolutionSizes sizes{.h = 4, .w = 4, .kernel = {3, 3}, .stride = {2, 3}, .output_padding = Pair{1, 2}};
  EXPECT_EQ(refusal(sizes), "accepted");
  sizes.output_padding = Pair{2, 2};
  EXPECT_THAT(refusal(sizes), StartsWith("output_padding: output_padding is 2, but must be less than"));
  sizes.output_padding = Pair{1, 3};
  EXPECT_THAT(refusal(sizes), HasSubstr("which are 3 and 1"));
  sizes.dilation = {1, 4};
  EXPECT_EQ(refusal(sizes), "accepted");
}

}  // namespace
}  // namespace assay::references
