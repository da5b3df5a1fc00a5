#include "ops/convolution/tensors.h"

#include "ops/convolution/convolution_test_support.h"
#include "tests/support/error_text.h"

#include <set>

namespace assay::ops {
namespace {

using namespace test;
using references::Convolution;

class ConvolutionTensorsTest : public ConvolutionTest {
 protected:
  /// The op's complaint about these parameters; "" if there is none.
  std::string complaint(const std::string& op, const ConvolutionSizes& sizes) const {
    return error_of([&] { op_of(op).tensors(params_of(op_of(op), sizes)); });
  }

  Work work(const std::string& op, const ConvolutionSizes& sizes) const {
    const Params params = params_of(op_of(op), sizes);
    return op_of(op).work(params, op_of(op).tensors(params));
  }
  std::int64_t operations(const std::string& op, const ConvolutionSizes& sizes) const {
    return work(op, sizes).operations;
  }
  /// The bytes of inputs that no tap meets.
  std::int64_t bytes_left(const std::string& op, const ConvolutionSizes& sizes) const {
    const std::vector<TensorSpec> tensors = op_of(op).tensors(params_of(op_of(op), sizes));
    return streaming_work(tensors).bytes_read - work(op, sizes).bytes_read;
  }
};

/// The number of pairs of a value of x and one of y, in one plane of each, that a tap connects; counted from
/// x where the convolution is transposed.
std::int64_t meetings(const Convolution& conv) {
  const bool from_x = conv.transposed;
  const references::HeightWidth y = conv.size_of_y(), x{conv.h, conv.w};
  const references::HeightWidth from = from_x ? x : y, to = from_x ? y : x;
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < from[0]; ++i) {
    for (std::int64_t j = 0; j < from[1]; ++j) {
      for (std::int64_t a = 0; a < conv.kernel[0]; ++a) {
        for (std::int64_t b = 0; b < conv.kernel[1]; ++b) {
          const std::int64_t p = i * conv.stride[0] - conv.padding[0] + a * conv.dilation[0];
          const std::int64_t q = j * conv.stride[1] - conv.padding[1] + b * conv.dilation[1];
          if (p >= 0 && p < to[0] && q >= 0 && q < to[1]) ++count;
        }
      }
    }
  }
  return count;
}

/// The rows (axis 0) or columns (1) of x that some tap meets.
std::int64_t places_met(const Convolution& conv, std::size_t axis) {
  std::set<std::int64_t> places;
  for (std::int64_t i = 0; i < conv.size_of_y()[axis]; ++i) {
    for (std::int64_t tap = 0; tap < conv.kernel[axis]; ++tap) {
      if (const auto place = conv.met(axis, i, tap)) places.insert(*place);
    }
  }
  return static_cast<std::int64_t>(places.size());
}

TEST_F(ConvolutionTensorsTest, PointwiseOnesHaveNoGeometry) {
  const std::string op = "q8ta_conv2d_pw";
  const ConvolutionSizes good{.kernel = {1, 1}, .padding = {0, 0}};
  EXPECT_EQ(complaint(op, good), "");
  ConvolutionSizes wrong = good;
  wrong.kernel = {1, 3};
  EXPECT_EQ(complaint(op, wrong), "kernel is [1, 3], but a pointwise convolution has [1, 1]");
  wrong = good;
  wrong.stride = {2, 1};
  EXPECT_EQ(complaint(op, wrong), "stride is [2, 1], but a pointwise convolution has [1, 1]");
  wrong = good;
  wrong.padding = {0, 1};
  EXPECT_EQ(complaint(op, wrong), "padding is [0, 1], but a pointwise convolution has [0, 0]");
  wrong = good;
  wrong.groups = 2;
  EXPECT_EQ(complaint(op, wrong), "a pointwise convolution has one group");
}

TEST_F(ConvolutionTensorsTest, DepthwiseOnesHaveAsManyOfAllAsChannels) {
  const std::string op = "q8ta_conv2d_dw";
  EXPECT_EQ(complaint(op, {.c = 6, .oc = 6, .groups = 6}), "");
  EXPECT_EQ(complaint(op, {.c = 6, .oc = 12, .groups = 6}),
            "OC is 12; in a depthwise convolution it must equal C, which is 6");
  EXPECT_EQ(complaint(op, {.c = 6, .oc = 6, .groups = 3}),
            "groups is 3; in a depthwise convolution it must equal C, which is 6");
}

TEST_F(ConvolutionTensorsTest, GroupsDivideChannels) {
  for (const std::string op : {"q8ta_conv2d", "q8ta_conv2d_transposed", "conv2d_q8csw"}) {
    EXPECT_EQ(complaint(op, {.c = 8, .oc = 9, .groups = 3}), "groups is 3, but must divide C, which is 8");
    EXPECT_EQ(complaint(op, {.c = 9, .oc = 8, .groups = 3}), "groups is 3, but must divide OC, which is 8");
    EXPECT_EQ(complaint(op, {.c = 9, .oc = 12, .groups = 3}), "");
  }
}

TEST_F(ConvolutionTensorsTest, AnEmptyYIsRefused) {
  EXPECT_EQ(complaint("q8ta_conv2d", {.h = 2, .kernel = {3, 3}, .padding = {0, 0}}),
            "y would be 0 x 5: the kernel of 3 x 3, dilated by 1 x 1, does not fit x of 2 x 7 with a padding "
            "of 0 x 0");
  EXPECT_NE(complaint("q8ta_conv2d", {.w = 4, .padding = {1, 1}, .dilation = {1, 3}}), "");
  EXPECT_EQ(complaint("q8ta_conv2d", {.w = 5, .padding = {1, 1}, .dilation = {1, 3}}), "");
  EXPECT_NE(complaint("q8ta_conv2d_transposed", {.h = 1, .kernel = {1, 1}}), "");
}

TEST_F(ConvolutionTensorsTest, PaddingMayDifferBetweenTheSides) {
  const Op& op = op_of("q8ta_conv2d");
  const auto y_of = [&](const Pair& padding) {
    return op.tensors(params_of(op, {.h = 8, .w = 8, .padding = padding})).back().shape;
  };
  EXPECT_EQ(y_of({1, 0}), (Shape{1, 8, 8, 6}));
  EXPECT_EQ(y_of({1, 0, 2, 5}), (Shape{1, 8, 9, 11}));
  for (const std::string name : {"q8ta_conv2d", "q8ta_conv2d_transposed", "conv2d_q8csw"}) {
    EXPECT_EQ(complaint(name, {.padding = {1, 1, 1}}),
              "padding has 3 entries, but must be [h, w] or [top, left, bottom, right]");
  }
  EXPECT_EQ(complaint("q8ta_conv2d", {.h = 1, .kernel = {3, 3}, .padding = {0, 1, 1, 0}}),
            "y would be 0 x 6: the kernel of 3 x 3, dilated by 1 x 1, does not fit x of 1 x 7 with a padding "
            "of 0 x 1 before and 1 x 0 after x");
}

TEST_F(ConvolutionTensorsTest, OutputPaddingIsLessThanAStep) {
  const std::string op = "q8ta_conv2d_transposed";
  EXPECT_EQ(complaint(op, {.stride = {2, 3}, .output_padding = {1, 2}}), "");
  EXPECT_EQ(complaint(op, {.stride = {1, 1}, .dilation = {1, 3}, .output_padding = {0, 2}}), "");
  EXPECT_EQ(complaint(op, {.stride = {2, 3}, .output_padding = {2, 0}}),
            "output_padding is 2, but must be less than the stride or the dilation, which are 2 and 1");
}

TEST_F(ConvolutionTensorsTest, SumsStayInInt32) {
  EXPECT_EQ(complaint("q8ta_conv2d", {.c = 65535, .h = 1, .w = 1, .kernel = {1, 1}, .padding = {0, 0}}), "");
  EXPECT_NE(complaint("q8ta_conv2d", {.c = 65536, .h = 1, .w = 1, .kernel = {1, 1}, .padding = {0, 0}}), "");
  EXPECT_EQ(complaint("conv2d_q8csw", {.c = 65536, .h = 1, .w = 1, .kernel = {1, 1}, .padding = {0, 0}}), "");
}

TEST_F(ConvolutionTensorsTest, AreXAndWAndScalesAndYAndABiasWhereThereIsOne) {
  const Op& op = op_of("q8ta_conv2d_transposed");
  Params params = params_of(op, {.n = 2, .c = 6, .oc = 9, .kernel = {3, 2}, .padding = {0, 0}, .groups = 3});
  params.set("bias", true);
  std::vector<std::string> names;
  for (const TensorSpec& tensor : op.tensors(params)) names.push_back(tensor.name);
  EXPECT_EQ(names, (std::vector<std::string>{"x", "w", "w_scale", "bias", "y"}));
  EXPECT_EQ(op.tensors(params)[1].shape, (Shape{6, 3, 3, 2}));
  EXPECT_EQ(op.tensors(params)[4].shape, (Shape{2, 9, 8, 8}));
  params.set("bias", false);
  EXPECT_EQ(op.tensors(params).size(), 4U);
}

TEST_F(ConvolutionTensorsTest, WorkIsTheTapsThatMeetX) {
  EXPECT_EQ(operations("q8ta_conv2d", {.c = 2, .h = 1, .w = 1, .oc = 3}), 2 * 2 * 3)
      << "8 of 9 taps lie in the padding";
  EXPECT_EQ(operations("q8ta_conv2d_transposed",
                       {.h = 2, .w = 2, .kernel = {1, 1}, .stride = {2, 2}, .padding = {0, 0}}),
            2 * 64 * 4)
      << "5 of 9 pixels meet nothing";
}

TEST_F(ConvolutionTensorsTest, WhatAStridePassesOverIsNotRead) {
  const ConvolutionSizes sizes{.h = 9, .w = 9, .kernel = {1, 1}, .stride = {4, 2}, .padding = {0, 0}};
  EXPECT_EQ(bytes_left("q8ta_conv2d", sizes), 8 * (9 * 9 - 3 * 5));
  EXPECT_EQ(bytes_left("conv2d_q8csw", sizes), 4 * 8 * (9 * 9 - 3 * 5)) << "x is f32";
  EXPECT_EQ(bytes_left("q8ta_conv2d", {}), 0);
}

TEST_F(ConvolutionTensorsTest, WorkIsWhatCountingFinds) {
  Draw draw(3);
  const auto pair = [&](std::int64_t low, std::int64_t high) {
    return Pair{draw.pick(low, high), draw.pick(low, high)};
  };
  int tried = 0;
  for (int round = 0; round < 1000 && tried < 200; ++round) {
    const std::string op = draw.one_of<std::string>({"q8ta_conv2d", "q8ta_conv2d_transposed"});
    const std::int64_t groups = draw.pick(1, 3);
    const ConvolutionSizes sizes{.n = draw.pick(1, 2),
                                 .c = groups * draw.pick(1, 3),
                                 .h = draw.pick(1, 7),
                                 .w = draw.pick(1, 7),
                                 .oc = groups * draw.pick(1, 3),
                                 .kernel = pair(1, 4),
                                 .stride = pair(1, 3),
                                 .padding = pair(0, 4),
                                 .dilation = pair(1, 3),
                                 .groups = groups};
    if (!complaint(op, sizes).empty()) continue;
    const Convolution conv = references::checked_convolution(params_of(op_of(op), sizes));
    EXPECT_EQ(operations(op, sizes), 2 * conv.n * conv.oc * conv.channels_of_group() * meetings(conv))
        << params_of(op_of(op), sizes).canonical();
    EXPECT_EQ(bytes_left(op, sizes),
              conv.n * conv.c * (conv.h * conv.w - places_met(conv, 0) * places_met(conv, 1)))
        << params_of(op_of(op), sizes).canonical();
    ++tried;
  }
  EXPECT_EQ(tried, 200);
}

}  // namespace
}  // namespace assay::ops
