#include "ops/convolution/convolution_test_support.h"

#include <utility>

// Compares convolutions on the device at hand with their references: random ones, and points that no row of
// cases/ has.

namespace assay::ops {
namespace {

using namespace test;

const Tune small_tiles{
    {"tile_m", 16}, {"tile_n", 16}, {"tile_k", 32}, {"subgroup_m", 16}, {"subgroup_n", 16}};

class ConvolutionsTest : public ConvolutionTest {
 protected:
  static Pair pair(Draw& draw, std::int64_t low, std::int64_t high) {
    return {draw.pick(low, high), draw.pick(low, high)};
  }

  static ConvolutionSizes random_pixels(Draw& draw) {
    return {.n = draw.pick(1, 2),
            .c = draw.pick(1, 21),
            .h = draw.pick(1, 9),
            .w = draw.pick(1, 9),
            .oc = draw.pick(1, 21),
            .kernel = {1, 1},
            .padding = {0, 0}};
  }

  static ConvolutionSizes random_sizes(Draw& draw) {
    ConvolutionSizes sizes{.n = draw.pick(1, 2), .h = draw.pick(1, 9), .w = draw.pick(1, 9)};
    sizes.groups = draw.one_of<std::int64_t>({1, 1, 2, 3, 4, 5});
    sizes.c = sizes.groups * draw.pick(1, 7);
    sizes.oc = sizes.groups * draw.pick(1, 7);
    sizes.kernel = pair(draw, 1, 3);
    sizes.stride = pair(draw, 1, 3);
    sizes.padding = pair(draw, 0, 2);
    sizes.dilation = pair(draw, 1, draw.pick(1, 3));
    return sizes;
  }

  static bool has_y(const Op& op, const Params& params) {
    try {
      op.tensors(params);
      return true;
    } catch (const ParameterError&) {
      return false;
    }
  }

  /// Expects `count` random points to be right.
  void try_points(const std::string& name, const std::string& impl, int count, const Tune& tune = {}) {
    const Op& op = op_of(name);
    Draw draw(static_cast<std::uint32_t>(31 * name.size() + impl.size()));
    int tried = 0;
    for (int round = 0; round < 40 * count && tried < count; ++round) {
      const ConvolutionSizes sizes = name == "q8ta_conv2d_pw" ? random_pixels(draw) : random_sizes(draw);
      Trial trial{.op = &op, .params = params_of(op, sizes), .tune = tune, .impl = impl};
      if (!has_y(op, trial.params)) continue;
      draw_choices(draw, trial);
      trial.seed = static_cast<std::uint64_t>(round);
      if (!can_run(trial)) continue;
      expect_right_here(trial);
      ++tried;
    }
    EXPECT_EQ(tried, count) << "most points are refused";
  }

  static void draw_choices(Draw& draw, Trial& trial) {
    const Op& op = *trial.op;
    trial.params.set("bias", draw.pick(0, 1) == 1);
    trial.params.set("activation", draw.one_of<std::string>({"none", "relu"}));
    if (op.find_param("x") != nullptr)
      trial.params.set("x", QParams{0.02F, static_cast<std::int32_t>(draw.pick(-128, 127))});
    if (op.find_param("epilogue") != nullptr)
      trial.params.set("epilogue", draw.one_of<std::string>({"float32", "fixed_point"}));
    if (op.find_param("dtype") != nullptr)
      trial.params.set("dtype", draw.one_of<std::string>({"f32", "f16"}));
    trial.forms = draw.forms(op.tensors(trial.params));
    trial.fill = draw.one_of<FillKind>({FillKind::Normal, FillKind::Uniform, FillKind::Outlier});
    if (op.name == "conv2d_q8csw" && draw.pick(0, 1) == 1) trial.fills["x"] = {.kind = FillKind::Mixed};
  }
};

TEST_F(ConvolutionsTest, InvocationsOfTheirOwnAreRightOnRandomPoints) {
  try_points("q8ta_conv2d", "general", 9);
  try_points("q8ta_conv2d", "general", 3, {{"pixels", 8}, {"columns", 8}});
}

TEST_F(ConvolutionsTest, RowsOfAProductAreRightOnRandomPoints) {
  try_points("q8ta_conv2d", "im2col", 4);
}

TEST_F(ConvolutionsTest, MatricesAreRightOnRandomPoints) {
  try_points("q8ta_conv2d", "implicit", 2, small_tiles);
}

TEST_F(ConvolutionsTest, TransposedOnesAreRightOnRandomPoints) {
  try_points("q8ta_conv2d_transposed", "general", 6);
  try_points("q8ta_conv2d_transposed", "implicit", 1, small_tiles);
}

TEST_F(ConvolutionsTest, PointwiseOnesAreRightOnRandomPoints) {
  for (const std::string impl : {"tile_n4_1", "tile_n4_2", "dot4x8"}) try_points("q8ta_conv2d_pw", impl, 4);
}

TEST_F(ConvolutionsTest, RealValuesAreRightOnRandomPoints) {
  try_points("conv2d_q8csw", "direct", 6);
  try_points("conv2d_q8csw", "im2col", 3);
  try_points("conv2d_q8ta_q8csw", "direct", 3);
}

TEST_F(ConvolutionsTest, GroupsOfSeveralTilesHaveTheirChannels) {
  for (const std::int64_t columns : {4, 8}) {
    Trial trial = trial_of("q8ta_conv2d", "general", {.c = 12, .oc = 40, .groups = 2});
    trial.tune = {{"columns", columns}};
    expect_right_here(trial);
  }
}

TEST_F(ConvolutionsTest, InfinitiesOfOtherGroupsDoNotReachAnOutput) {
  for (const auto& [c, oc, groups] : {std::tuple<std::int64_t, std::int64_t, std::int64_t>{10, 10, 2},
                                      {9, 24, 3},
                                      {6, 18, 6},
                                      {18, 18, 3}}) {
    Trial trial = trial_of("conv2d_q8csw", "direct", {.c = c, .h = 9, .w = 9, .oc = oc, .groups = groups});
    trial.fills["x"] = {.kind = FillKind::Mixed};
    expect_right_here(trial);
  }
}

TEST_F(ConvolutionsTest, ANanOfTheBiasBecomesTheZeroPoint) {
  for (const std::string activation : {"none", "relu"}) {
    for (const FillKind fill : {FillKind::Nan, FillKind::Special}) {
      Trial trial = trial_of("q8ta_conv2d", "general", {});
      trial.params.set("bias", true);
      trial.params.set("activation", activation);
      trial.forms = first_forms(*trial.op, trial.params);
      trial.fills["bias"] = {.kind = fill};
      expect_right_here(trial);
    }
  }
}

}  // namespace
}  // namespace assay::ops
