#include "ops/registry.h"
#include "tests/support/on_device.h"

#include <algorithm>

namespace assay::ops {
namespace {

using namespace test;

Params clone_params(const Shape& shape) {
  Params params;
  params.set("shape", shape);
  return params;
}

bool is_deep(const Dispatch& dispatch) {
  const auto& defines = dispatch.defines;
  return std::find(defines.begin(), defines.end(), Define{"DEEP", "1"}) != defines.end();
}

class CloneOpTest : public OnDeviceTest {
 protected:
  /// Each of the 25 pairs of layouts.
  void expect_right_in_every_pair(const Shape& shape, const std::map<std::string, std::int64_t>& tune = {}) {
    const Params params = clone_params(shape);
    const std::vector<Form> forms = op->tensors(params).front().forms;
    EXPECT_EQ(forms.size(), 5U);
    for (const Form x : forms) {
      for (const Form y : forms) {
        expect_right({.op = op, .params = params, .forms = {x, y}, .fill = FillKind::Uniform, .tune = tune});
      }
    }
  }

  Registry ops = registry();
  const Op* op = ops.find("q8ta_clone");
};

TEST_F(CloneOpTest, MovesTailsOfEveryAxisAndBatches) {
  expect_right_in_every_pair({2, 5, 3, 7});
}

TEST_F(CloneOpTest, MovesWholeTiles) {
  expect_right_in_every_pair({2, 8, 4, 12});
}

TEST_F(CloneOpTest, MovesTensorsThatAreThinAlongAnAxis) {
  expect_right_in_every_pair({1, 9, 6, 1});
  expect_right_in_every_pair({3, 1, 1, 4});
}

TEST_F(CloneOpTest, MovesTensorsOfManyBoxes) {
  expect_right_in_every_pair({2, 37, 41, 43});
}

TEST_F(CloneOpTest, IsRightWithAnyTunedLocalSize) {
  for (const std::int64_t local_size : {1, 7, 1024}) {
    expect_right_in_every_pair({2, 21, 6, 19}, {{"local_size", local_size}});
  }
}

TEST_F(CloneOpTest, AgreesWithItsReferenceOnRandomShapes) {
  Draw draw(51);
  for (int round = 0; round < 40 && !HasFatalFailure(); ++round) {
    const Params params = clone_params(draw.shape(11));
    expect_right({.op = op,
                  .params = params,
                  .forms = draw.forms(op->tensors(params)),
                  .fill = FillKind::Uniform,
                  .seed = static_cast<std::uint64_t>(round)});
  }
}

TEST_F(CloneOpTest, WritesVectorsTo4CFromTensorsThatAreLarge) {
  const Form p4c{Storage::Buffer, Layout::P4C};
  for (const Layout from : {Layout::P4W, Layout::P4H4W}) {
    for (const Shape& shape : {Shape{3, 16, 43691, 1}, Shape{1, 32, 32769, 5}}) {
      const Trial trial{.op = op,
                        .params = clone_params(shape),
                        .forms = {{Storage::Buffer, from}, p4c},
                        .fill = FillKind::Uniform};
      EXPECT_TRUE(is_deep(program_of(trial).dispatches.front())) << trial.describe();
      expect_right(trial);
    }
  }
}

TEST_F(CloneOpTest, WritesNoVectorsWhereBlocksOfChannelsAreNoMultipleOfFourOrTheTensorIsSmall) {
  const std::vector<Form> forms{{Storage::Buffer, Layout::P4W}, {Storage::Buffer, Layout::P4C}};
  const auto deep = [&](const Shape& shape) {
    return is_deep(program_of({.op = op, .params = clone_params(shape), .forms = forms}).dispatches.front());
  };
  EXPECT_TRUE(deep({1, 16, 131072, 1}));
  EXPECT_FALSE(deep({1, 16, 131071, 1}));
  EXPECT_FALSE(deep({1, 20, 131072, 1}));
  EXPECT_FALSE(deep({1, 15, 131072, 1}));
}

TEST_F(CloneOpTest, DeclaresThatACopyIsRight) {
  EXPECT_FALSE(op->tensors(clone_params({4})).back().copy_because.empty());
}

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
