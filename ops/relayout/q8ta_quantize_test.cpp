#include "ops/registry.h"
#include "tests/support/on_device.h"

namespace assay::ops {
namespace {

using namespace test;

const std::vector<FillKind> fills{FillKind::Normal, FillKind::Ties, FillKind::Saturate,
                                  FillKind::Wide,   FillKind::Zero, FillKind::Special};

/// Tests q8ta_quantize and q8ta_dequantize, which have the same forms, in the opposite direction.
class Q8taConversionTest : public OnDeviceTest {
 protected:
  static Params params_of(const Op& op, const Shape& shape, const std::string& dtype, QParams integers) {
    Params params;
    params.set("shape", shape);
    params.set("dtype", dtype);
    params.set(op.find_param("x") != nullptr ? "x" : "y", integers);
    return params;
  }

  void try_points(const Op& op, int count, std::uint32_t seed) {
    Draw draw(seed);
    for (int round = 0; round < count && !HasFatalFailure(); ++round) {
      const Params params =
          params_of(op, draw.shape(11), draw.one_of<std::string>({"f32", "f16"}), draw.qparams());
      Trial trial{.op = &op, .params = params, .seed = static_cast<std::uint64_t>(round)};
      trial.forms = draw.forms(op.tensors(params));
      trial.fill = draw.one_of(fills);
      if (round % 4 == 0) trial.tune = {{"local_size", draw.one_of<std::int64_t>({1, 7, 1024})}};
      expect_right(trial);
    }
  }

  /// Every pair of forms that both tensors can have.
  void try_every_pair(const Op& op, const Shape& shape, const std::string& dtype) {
    const Params params = params_of(op, shape, dtype, {0.02F, -3});
    const std::vector<TensorSpec> tensors = op.tensors(params);
    int tried = 0;
    for (const Form x : tensors[0].forms) {
      for (const Form y : tensors[1].forms) {
        if (!can_hold(x, tensors[0]) || !can_hold(y, tensors[1])) continue;
        expect_right({.op = &op, .params = params, .forms = {x, y}, .fill = FillKind::Normal, .seed = 3});
        ++tried;
      }
    }
    EXPECT_GE(tried, 30);  // float: buffers and 3D textures, each in three layouts; int8x4: five
  }

  Registry ops = registry();
  const Op& quantize = *ops.find("q8ta_quantize");
  const Op& dequantize = *ops.find("q8ta_dequantize");
};

TEST_F(Q8taConversionTest, QuantizeAgreesWithItsReferenceOnRandomPoints) {
  try_points(quantize, 48, 61);
}

TEST_F(Q8taConversionTest, DequantizeAgreesWithItsReferenceOnRandomPoints) {
  try_points(dequantize, 48, 62);
}

TEST_F(Q8taConversionTest, QuantizeIsRightInEveryPairOfForms) {
  try_every_pair(quantize, {3, 5, 7}, "f32");
  try_every_pair(quantize, {2, 5, 3, 6}, "f16");
}

TEST_F(Q8taConversionTest, DequantizeIsRightInEveryPairOfForms) {
  try_every_pair(dequantize, {3, 5, 7}, "f32");
  try_every_pair(dequantize, {2, 5, 3, 6}, "f16");
}

TEST_F(Q8taConversionTest, RowsOfHalvesThatShareAWordAreWrittenOnce) {
  const Form x{Storage::Buffer, Layout::P4W4C};
  for (const Layout layout : {Layout::WP, Layout::HP, Layout::CP}) {
    const Trial trial{.op = &dequantize,
                      .params = params_of(dequantize, {3, 5, 7, 9}, "f16", {0.1F, 11}),
                      .forms = {x, {Storage::Buffer, layout}},
                      .fill = FillKind::Uniform};
    EXPECT_EQ(program_of(trial).dispatches.front().shader, "gather.comp");
    expect_right(trial);
  }
}

TEST_F(Q8taConversionTest, WholeRowsOfHalvesMoveByTiles) {
  const Trial trial{.op = &dequantize,
                    .params = params_of(dequantize, {3, 5, 7, 8}, "f16", {0.1F, 11}),
                    .forms = {{Storage::Buffer, Layout::P4C}, {Storage::Buffer, Layout::WP}},
                    .fill = FillKind::Uniform};
  EXPECT_EQ(program_of(trial).dispatches.front().shader, "relayout.comp");
  expect_right(trial);
}

TEST_F(Q8taConversionTest, HalvesBeyondTheRangeAreInfinite) {
  for (const Form y : {Form{Storage::Buffer, Layout::WP}, Form{Storage::Texture3D, Layout::CP}}) {
    for (const std::int64_t width : {8, 7}) {
      expect_right({.op = &dequantize,
                    .params = params_of(dequantize, {2, width}, "f16", {1000.0F, 100}),
                    .forms = {{Storage::Buffer, Layout::P4W}, y},
                    .fill = FillKind::Uniform});
    }
  }
}

TEST_F(Q8taConversionTest, ExtremeZeroPointsAndScalesAreRight) {
  for (const QParams integers : {QParams{1e-30F, -128}, QParams{1e30F, 127}, QParams{1.0F, 0}}) {
    for (const Op* op : {&quantize, &dequantize}) {
      for (const FillKind fill : {FillKind::Special, FillKind::Uniform}) {
        Trial trial{.op = op, .params = params_of(*op, {3, 6, 5}, "f32", integers), .fill = fill};
        for (const TensorSpec& tensor : op->tensors(trial.params))
          trial.forms.push_back(tensor.forms.front());
        expect_right(trial);
      }
    }
  }
}

}  // namespace
}  // namespace assay::ops
