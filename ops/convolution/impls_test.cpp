#include "ops/convolution/impls.h"

#include "harness/cases/describe/reachable_programs.h"
#include "ops/convolution/convolution_test_support.h"

#include <algorithm>
#include <utility>

namespace assay::ops {

// Tests what impls of convolutions refuse, which impl `auto` takes, and which layout CONV2D stands for.

namespace {

using namespace test;

const ConvolutionSizes pointwise{.c = 16, .kernel = {1, 1}, .padding = {0, 0}};
const std::vector<std::string> of_any_group{"q8ta_conv2d", "q8ta_conv2d_transposed"};

void have_no_matrices(DeviceInfo& device) {
  device.cooperative_shapes.clear();
  std::erase(device.features, Feature::CooperativeMatrixNv);
}

void have_no_dot_product(DeviceInfo& device) {
  device.dot_product_accelerated = false;
  std::erase(device.features, Feature::DotProduct);
}

class ConvolutionImplsTest : public ConvolutionTest {
 protected:
  std::string refused(const std::string& op, const std::string& impl, const ConvolutionSizes& sizes,
                      Tune tune = {}, std::function<void(DeviceInfo&)> as_if = {}) {
    Trial trial = trial_of(op, impl, sizes);
    trial.tune = std::move(tune);
    trial.as_if = std::move(as_if);
    return refusal(trial);
  }

  std::string refused_in(const std::string& impl, Layout x, Layout y) {
    Trial trial = trial_of("q8ta_conv2d_pw", impl, pointwise);
    trial.forms.front().layout = x;
    trial.forms.back().layout = y;
    return refusal(trial);
  }

  /// The impl that `auto` takes on a device.
  std::string choice(const std::string& op, const ConvolutionSizes& sizes, const DeviceInfo& device) const {
    const Trial trial = trial_of(op, "auto", sizes);
    const std::vector<TensorSpec> tensors = trial.op->tensors(trial.params);
    const BuildContext context(trial.params, tensors, trial.forms, device, trial.tune);
    return chosen_impl(*trial.op, *trial.op->find_impl("auto"), context).name;
  }

  /// The ceiling with which an impl's operations are compared.
  Ceiling ceiling(const std::string& op, const std::string& impl, const DeviceInfo& device) const {
    const Trial trial = trial_of(op, impl, {});
    const std::vector<TensorSpec> tensors = trial.op->tensors(trial.params);
    return ceiling_of(*trial.op->find_impl(impl), {trial.params, tensors, trial.forms, device, trial.tune});
  }

  /// The layout that buffer/CONV2D stands for with this impl.
  std::optional<Layout> conv2d(const std::string& op, const std::string& impl) const {
    return op_of(op).find_impl(impl)->conv2d_layout;
  }

  const DeviceInfo with_matrices = contrasting_devices().at(1);
  const DeviceInfo with_dot_product = [](DeviceInfo device) {
    have_no_matrices(device);
    return device;
  }(with_matrices);
  const DeviceInfo plain = [](DeviceInfo device) {
    have_no_dot_product(device);
    return device;
  }(with_dot_product);
};

TEST_F(ConvolutionImplsTest, PixelsAreRowsOfALinearOpInTwoLayouts) {
  const std::string reason =
      "this impl takes pixels as rows of a linear op, so x and y must both be in 4W4C or both in 4C";
  for (const std::string impl : {"coopmat", "dot4x8"}) {
    EXPECT_EQ(refused_in(impl, Layout::P4W4C, Layout::P4W4C), "");
    EXPECT_EQ(refused_in(impl, Layout::P4C, Layout::P4C), "");
    EXPECT_EQ(refused_in(impl, Layout::P4C1W, Layout::P4C1W), reason);
    EXPECT_EQ(refused_in(impl, Layout::P4C, Layout::P4W4C), reason);
  }
  EXPECT_EQ(refused_in("tile_n4_1", Layout::P4C1W, Layout::P4C), "");
}

TEST_F(ConvolutionImplsTest, RowsOfRealValuesAreOfOneGroup) {
  EXPECT_EQ(refused("conv2d_q8csw", "im2col", {.groups = 2}),
            "a row holds the channels of all groups, so this impl takes one group, not 2");
  EXPECT_EQ(refused("conv2d_q8csw", "im2col", {}), "");
  EXPECT_EQ(refused("conv2d_q8csw", "direct", {.groups = 2}), "");
}

TEST_F(ConvolutionImplsTest, MatricesOfRealValuesAreOfHalves) {
  EXPECT_EQ(refused("conv2d_q8csw", "im2col", {}, {{"product", 1}}),
            "matrices of half floats would round x of f32");
  EXPECT_EQ(refused("conv2d_q8csw", "im2col", {.dtype = "f16"}, {{"product", 1}}), "");
}

TEST_F(ConvolutionImplsTest, HalvesAreGatheredInWholeUnitsOfOneGroup) {
  const auto reason = [&](const ConvolutionSizes& sizes) {
    return refused("conv2d_q8csw", "implicit", sizes);
  };
  EXPECT_EQ(reason({.c = 16}), "x is f32, which matrices of half floats would round");
  EXPECT_EQ(reason({.c = 16, .groups = 2, .dtype = "f16"}), "this impl takes one group, not 2");
  EXPECT_EQ(reason({.c = 12, .dtype = "f16"}),
            "12 channels of x are no whole units of 16 bytes, which hold 8");
  EXPECT_EQ(reason({.c = 16, .dtype = "f16"}), "");
  Trial trial = trial_of("conv2d_q8csw", "implicit", {.c = 16, .dtype = "f16"});
  trial.forms.front().storage = Storage::Texture3D;
  EXPECT_EQ(refusal(trial), "x is a texture, but is read 16 bytes at a time: use a buffer");
  EXPECT_EQ(
      refused("conv2d_q8csw", "implicit", {.c = 16, .dtype = "f16"}, {{"tile_m", 16}, {"subgroup_m", 32}}),
      "subgroups of 32 x 32 do not fit evenly in a tile of 16 x 128");
}

TEST_F(ConvolutionImplsTest, IntegersOfRealImagesAreCountedToo) {
  const ConvolutionSizes sizes{
      .c = 1, .h = 1 << 15, .w = 1 << 14, .oc = 1, .kernel = {1, 1}, .padding = {0, 0}};
  for (const std::string impl : {"direct", "im2col", "implicit"}) {
    EXPECT_EQ(refused("conv2d_q8ta_q8csw", impl, sizes),
              "quantized x: 2147483648 elements as buffer/4C exceed the 2^31 - 1 that this kernel can count")
        << impl;
  }
  EXPECT_EQ(refused("conv2d_q8csw", "direct", sizes), "") << "it takes x as it is";
}

TEST_F(ConvolutionImplsTest, CoordinatesAreCounted) {
  const std::int64_t far = std::int64_t{1} << 30;
  const auto stepping = [](std::int64_t stride) {
    return ConvolutionSizes{
        .c = 16, .h = 1, .w = 1, .kernel = {1, 1}, .stride = {stride, 1}, .padding = {0, 0}, .dtype = "f16"};
  };
  const std::string reason =
      "coordinates reach 1073741825, which exceeds the 1073741824 that this kernel can count";
  for (const auto& [op, impl] : {std::pair<std::string, std::string>{"q8ta_conv2d_transposed", "general"},
                                 {"q8ta_conv2d", "general"},
                                 {"q8ta_conv2d", "im2col"},
                                 {"q8ta_conv2d", "implicit"},
                                 {"conv2d_q8csw", "im2col"},
                                 {"conv2d_q8csw", "direct"},
                                 {"conv2d_q8csw", "implicit"}}) {
    ConvolutionSizes sizes = stepping(far + 1);
    if (op != "conv2d_q8csw") sizes.dtype.clear();
    EXPECT_EQ(refused(op, impl, sizes), reason) << op << ' ' << impl;
    sizes.stride[0] = far;
    EXPECT_EQ(refused(op, impl, sizes), "") << op << ' ' << impl;
  }
}

TEST_F(ConvolutionImplsTest, CoordinatesOfTransposedOnesAreThoseOfYAndWhatItsPaddingTakesAway) {
  const std::int64_t stride = std::int64_t{1} << 29;
  EXPECT_EQ(
      refused("q8ta_conv2d_transposed", "general",
              {.h = 1, .w = 4, .kernel = {1, 1}, .stride = {1, stride}, .padding = {0, 3 * stride, 0, 0}}),
      "coordinates reach 1610612737, which exceeds the 1073741824 that this kernel can count");
}

TEST_F(ConvolutionImplsTest, TheDotProductIsAskedForWhereItIsTuned) {
  const std::string reason = "the integer dot product (shaderIntegerDotProduct) is missing";
  for (const std::string& op : of_any_group) {
    EXPECT_EQ(refused(op, "general", {}, {{"dot", 1}}, have_no_dot_product), reason);
    EXPECT_EQ(refused(op, "general", {}, {}, have_no_dot_product), "");
  }
  EXPECT_EQ(refused("q8ta_conv2d_pw", "tile_n4_2", pointwise, {{"dot", 1}}, have_no_dot_product), reason);
  EXPECT_EQ(refused("q8ta_conv2d", "im2col", {}, {{"product", 1}}, have_no_dot_product), reason);
  EXPECT_EQ(refused("q8ta_conv2d", "im2col", {}, {{"product", 0}}, have_no_dot_product), "");
}

TEST_F(ConvolutionImplsTest, LoopsThatACpuLeavesEarlyAreRefused) {
  const auto reason = [&](const std::string& op, const std::string& impl, const ConvolutionSizes& sizes,
                          const std::string& type = "cpu") {
    return refused(op, impl, sizes, {{"dot", 0}}, [type](DeviceInfo& device) { device.type = type; });
  };
  const auto of_taps = [](std::int64_t taps) {
    return ConvolutionSizes{.c = 1, .h = 1, .w = taps, .oc = 1, .kernel = {1, taps}, .padding = {0, 0}};
  };
  const std::string too_many = "65536 loop iterations per invocation exceed the 65535 that a CPU device runs";
  // A tap takes three iterations: one itself, one for its only word, and one to find that there is no other.
  for (const std::string op : {"q8ta_conv2d", "q8ta_conv2d_transposed"}) {
    ConvolutionSizes sizes = of_taps(21844);
    if (op == "q8ta_conv2d_transposed") sizes.w = 1;
    EXPECT_EQ(reason(op, "general", sizes), "") << op;
    sizes.kernel = {1, 21845};
    if (op == "q8ta_conv2d") sizes.w = 21845;
    EXPECT_EQ(reason(op, "general", sizes), too_many) << op;
    EXPECT_EQ(reason(op, "general", sizes, "discrete"), "") << op;
  }
  EXPECT_EQ(reason("conv2d_q8ta_q8csw", "direct", of_taps(21844)), "");
  EXPECT_EQ(reason("conv2d_q8ta_q8csw", "direct", of_taps(21845)), too_many);
}

/// The words of all channels and taps are one loop.
TEST_F(ConvolutionImplsTest, WordsOfRealImagesThatACpuLeavesOutAreRefused) {
  const auto reason = [&](std::int64_t channels, const std::string& type = "cpu") {
    return refused("conv2d_q8csw", "direct",
                   {.c = channels, .h = 1, .w = 1, .oc = 1, .kernel = {1, 1}, .padding = {0, 0}}, {},
                   [type](DeviceInfo& device) { device.type = type; });
  };
  EXPECT_EQ(reason(4 * 65534), "");
  EXPECT_EQ(reason(4 * 65534 + 1),
            "65536 loop iterations per invocation exceed the 65535 that a CPU device runs");
  EXPECT_EQ(reason(4 * 65534 + 1, "discrete"), "");
}

TEST_F(ConvolutionImplsTest, MatricesAreAskedForWherePlainCodeIsNot) {
  EXPECT_EQ(refused("q8ta_conv2d", "implicit", {}, {{"plain", 0}}, have_no_matrices),
            "VK_KHR_ or VK_NV_cooperative_matrix with products of i8 to i32 is missing");
  EXPECT_EQ(refused("q8ta_conv2d", "implicit", {}, {}, have_no_matrices), "");
}

// 32 KiB of shared memory hold no tile of 128 x 128 with slabs of 128, nor one of 128 x 64 with slabs of 192.
TEST_F(ConvolutionImplsTest, DefaultTilesFitTheDevicesOfOtherVendors) {
  for (const Vendor vendor : {Vendor::Amd, Vendor::IntelDg2, Vendor::IntelXe2, Vendor::Qualcomm}) {
    const auto as_there = [vendor](DeviceInfo& device) { device = device_of_vendor(vendor); };
    for (const ConvolutionSizes& sizes : {ConvolutionSizes{},
                                          {.c = 64, .h = 128, .w = 128, .oc = 64},
                                          {.c = 512, .h = 7, .w = 7, .oc = 512},
                                          {.c = 128, .h = 128, .w = 128, .oc = 128}}) {
      SCOPED_TRACE(testing::Message() << static_cast<int>(vendor) << ", " << sizes.c << " channels");
      EXPECT_EQ(refused("q8ta_conv2d", "implicit", sizes, {{"plain", 0}}, as_there), "");
      EXPECT_EQ(refused("q8ta_conv2d", "im2col", sizes, {{"product", 2}}, as_there), "");
    }
  }
}

TEST_F(ConvolutionImplsTest, SubgroupsThatAreNotWholeInTilesAreRefused) {
  EXPECT_EQ(refused("q8ta_conv2d", "implicit", {}, {{"tile_m", 32}, {"subgroup_m", 64}}),
            "tile_m 32 is not a multiple of subgroup_m 64");
}

TEST_F(ConvolutionImplsTest, ColumnsThatNoKernelCanCountAreRefused) {
  const ConvolutionSizes large{.c = 64, .h = 2048, .w = 2048, .kernel = {5, 5}, .padding = {2, 2}};
  for (const std::string op : {"q8ta_conv2d", "conv2d_q8csw", "conv2d_q8ta_q8csw"}) {
    EXPECT_THAT(refused(op, "im2col", large), testing::HasSubstr("columns: ")) << op;
  }
  EXPECT_EQ(refused("q8ta_conv2d", "general", large), "");
  EXPECT_EQ(refused("conv2d_q8csw", "direct", large), "");
}

TEST_F(ConvolutionImplsTest, AutoMultipliesMatricesWhereTheDeviceHasThem) {
  for (const std::string& op : of_any_group) EXPECT_EQ(choice(op, {}, with_matrices), "implicit") << op;
  EXPECT_EQ(choice("conv2d_q8ta_q8csw", {}, with_matrices), "implicit");
  EXPECT_EQ(choice("q8ta_conv2d", {.groups = 4}, with_matrices), "implicit");
  EXPECT_EQ(choice("q8ta_conv2d_pw", pointwise, with_matrices), "coopmat");
}

TEST_F(ConvolutionImplsTest, AutoTakesTilesOfDotProductsWhereItHasNone) {
  EXPECT_EQ(choice("q8ta_conv2d", {}, with_dot_product), "im2col");
  EXPECT_EQ(choice("conv2d_q8ta_q8csw", {}, with_dot_product), "im2col");
  EXPECT_EQ(choice("q8ta_conv2d_pw", pointwise, with_dot_product), "dot4x8");
}

TEST_F(ConvolutionImplsTest, AutoTakesInvocationsOfTheirOwnWhereItHasNeither) {
  for (const std::string& op : of_any_group) EXPECT_EQ(choice(op, {}, plain), "general") << op;
  EXPECT_EQ(choice("conv2d_q8ta_q8csw", {}, plain), "direct");
  EXPECT_EQ(choice("q8ta_conv2d_pw", pointwise, plain), "tile_n4_2");
}

TEST_F(ConvolutionImplsTest, AutoOfRealValuesGoesByGroups) {
  for (const DeviceInfo& device : {with_matrices, plain}) {
    EXPECT_EQ(choice("conv2d_q8csw", {}, device), "im2col");
    EXPECT_EQ(choice("conv2d_q8csw", {.groups = 2}, device), "direct");
  }
}

TEST_F(ConvolutionImplsTest, AutoGathersHalvesUnlessFewPixelsHaveLongRows) {
  ASSERT_TRUE(with_matrices.places_matrices());
  const auto taken = [&](std::int64_t c, std::int64_t side, std::int64_t oc) {
    return choice("conv2d_q8csw", {.c = c, .h = side, .w = side, .oc = oc, .dtype = "f16"}, with_matrices);
  };
  EXPECT_EQ(taken(64, 128, 128), "implicit");
  EXPECT_EQ(taken(64, 7, 64), "implicit") << "rows of 576 values";
  EXPECT_EQ(taken(512, 7, 512), "im2col") << "workgroups share K there";
  EXPECT_EQ(taken(512, 128, 512), "implicit");
  EXPECT_EQ(taken(12, 128, 128), "im2col");
  EXPECT_EQ(
      choice("conv2d_q8csw", {.n = 1, .c = 512, .h = 32, .w = 32, .oc = 512, .dtype = "f16"}, with_matrices),
      "im2col");
  EXPECT_EQ(
      choice("conv2d_q8csw", {.n = 4, .c = 512, .h = 32, .w = 32, .oc = 512, .dtype = "f16"}, with_matrices),
      "implicit")
      << "pixels of all images";
  EXPECT_EQ(choice("conv2d_q8csw", {.c = 64, .h = 128, .w = 128, .oc = 128, .dtype = "f16"}, plain),
            "im2col");
}

TEST_F(ConvolutionImplsTest, TilesOfGatheredHalvesFollowTheirNumber) {
  const auto workgroups = [&](std::int64_t side, std::int64_t oc) {
    const Trial trial =
        trial_of("conv2d_q8csw", "implicit", {.c = 16, .h = side, .w = side, .oc = oc, .dtype = "f16"});
    return program_of(trial).dispatches.back().workgroups[0];
  };
  EXPECT_EQ(workgroups(128, 128), 128U * 128 / 64);
  EXPECT_EQ(workgroups(128, 32), 128U * 128 / 64) << "tiles of 64 x 32";
  EXPECT_EQ(workgroups(16, 64), 16U * 16 / 16 * 2) << "few: tiles of 16 x 32";
}

TEST_F(ConvolutionImplsTest, TheCeilingIsThatOfTheKernelTaken) {
  EXPECT_EQ(ceiling("q8ta_conv2d", "general", with_dot_product), Ceiling::Dot4x8);
  EXPECT_EQ(ceiling("q8ta_conv2d", "general", plain), Ceiling::Fp32);
  EXPECT_EQ(ceiling("q8ta_conv2d", "im2col", with_matrices), Ceiling::CoopInt8);
  EXPECT_EQ(ceiling("q8ta_conv2d", "im2col", with_dot_product), Ceiling::Dot4x8);
  EXPECT_EQ(ceiling("q8ta_conv2d", "im2col", plain), Ceiling::Fp32);
  EXPECT_EQ(ceiling("conv2d_q8csw", "im2col", with_matrices), Ceiling::Fp32) << "x is f32";
}

TEST_F(ConvolutionImplsTest, EachImplHasALayoutThatItLikes) {
  EXPECT_EQ(conv2d("q8ta_conv2d", "general"), Layout::P4C1W);
  EXPECT_EQ(conv2d("q8ta_conv2d", "im2col"), Layout::P4C);
  EXPECT_EQ(conv2d("q8ta_conv2d", "implicit"), Layout::P4C);
  EXPECT_EQ(conv2d("q8ta_conv2d_pw", "tile_n4_1"), Layout::P4C1W);
  EXPECT_EQ(conv2d("q8ta_conv2d_pw", "dot4x8"), Layout::P4C);
  EXPECT_EQ(conv2d("conv2d_q8csw", "direct"), std::nullopt);
  EXPECT_EQ(conv2d_layouts(op_of("q8ta_conv2d_transposed")),
            (std::vector<Layout>{Layout::P4C1W, Layout::P4C}));
}

// Compares convolutions on the device at hand with their references: random ones, and points that no row of
// cases/ has.

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
    if (draw.pick(0, 1) == 1) {  // the padding of each side
      const Pair end = pair(draw, 0, 2);
      sizes.padding.insert(sizes.padding.end(), end.begin(), end.end());
    }
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
  for (const std::int64_t oc : {5, 40}) {
    Trial trial = trial_of("conv2d_q8csw", "implicit", {.c = 24, .h = 9, .w = 7, .oc = oc, .dtype = "f16"});
    trial.fills["x"] = {.kind = FillKind::Mixed};
    expect_right_here(trial);
  }
}

TEST_F(ConvolutionsTest, TheLongestLoopsOfACpuAreRunToTheirEnd) {
  for (const auto& [op, impl, sizes] :
       {std::tuple<std::string, std::string, ConvolutionSizes>{
            "conv2d_q8csw",
            "direct",
            {.c = 4 * 65534, .h = 1, .w = 1, .oc = 1, .kernel = {1, 1}, .padding = {0, 0}}},
        {"q8ta_conv2d",
         "general",
         {.c = 1, .h = 1, .w = 21844, .oc = 1, .kernel = {1, 21844}, .padding = {0, 0}}}}) {
    const Trial trial = trial_of(op, impl, sizes);
    ASSERT_EQ(refusal(trial), "") << op;
    expect_right_here(trial);
  }
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
