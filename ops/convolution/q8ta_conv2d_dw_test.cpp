#include "harness/base/error.h"
#include "ops/registry.h"
#include "tests/support/on_device.h"

#include <algorithm>
#include <array>
#include <utility>

namespace assay::ops {

// The impl `direct` of q8ta_conv2d_dw: what it chooses, what it refuses, and random points compared with the
// reference.

namespace {

using namespace test;

using Pair = std::vector<std::int64_t>;

struct Geometry {
  std::int64_t n = 1, c = 8, h = 16, w = 16;
  Pair kernel{3, 3}, stride{1, 1}, padding{1, 1}, dilation{1, 1};
};

Params params_of(const Op& op, const Geometry& of) {
  Params params;
  for (const auto& [name, value] : {std::pair{"N", of.n}, {"C", of.c}, {"H", of.h}, {"W", of.w}}) {
    params.set(name, value);
  }
  for (const auto& [name, value] : {std::pair{"kernel", of.kernel},
                                    {"stride", of.stride},
                                    {"padding", of.padding},
                                    {"dilation", of.dilation}}) {
    params.set(name, value);
  }
  params.set("x", QParams{0.02F, -11});
  return with_defaults(op, std::move(params));
}

/// A GPU whose dot product is fast, or is not.
void be_a_gpu(DeviceInfo& device, bool dot_is_fast) {
  device.type = "discrete";
  device.subgroup_size = device.min_subgroup_size = device.max_subgroup_size = 32;
  device.max_workgroup_size = {1024, 1024, 64};
  device.max_workgroup_invocations = 1024;
  device.dot_product_accelerated = dot_is_fast;
}

class DepthwiseTest : public OnDeviceTest {
 protected:
  Trial trial_of(const Geometry& geometry, Tune tune = {}, Layout y = Layout::P4C1W) const {
    Trial trial{.op = op, .params = params_of(*op, geometry), .tune = std::move(tune)};
    for (const TensorSpec& tensor : op->tensors(trial.params)) trial.forms.push_back(tensor.forms.front());
    trial.forms.back() = {Storage::Buffer, y};
    return trial;
  }

  /// The ROWS, COLUMNS and PRODUCTS chosen on a GPU.
  std::string chosen(const Geometry& geometry, bool dot_is_fast = true) {
    Trial trial = trial_of(geometry);
    trial.as_if = [dot_is_fast](DeviceInfo& device) { be_a_gpu(device, dot_is_fast); };
    const Dispatch dispatch = program_of(trial).dispatches.back();
    return define_or_none(dispatch, "ROWS") + "x" + define_or_none(dispatch, "COLUMNS") + " by " +
           define_or_none(dispatch, "PRODUCTS");
  }

  std::string refusal(const Geometry& geometry, Tune tune) const {
    const Trial trial = trial_of(geometry, std::move(tune));
    const std::vector<TensorSpec> tensors = op->tensors(trial.params);
    return op->impls.front().invalid_reason({trial.params, tensors, trial.forms, trial.tune}).value_or("");
  }

  /// Why a device of this type cannot run it; "" if it can.
  std::string lack_on(const std::string& type, const Geometry& geometry) const {
    const DeviceInfo device{.type = type};
    const Trial trial = trial_of(geometry);
    const std::vector<TensorSpec> tensors = op->tensors(trial.params);
    const BuildContext context(trial.params, tensors, trial.forms, device, trial.tune);
    return missing_for(op->impls.front(), context).value_or("");
  }

  /// The ceiling on a GPU whose dot product is fast, if it has one.
  Ceiling ceiling(bool has_dot, Tune tune = {}) const {
    DeviceInfo gpu;
    be_a_gpu(gpu, true);
    if (has_dot) gpu.features = {Feature::DotProduct};
    const Trial trial = trial_of({}, std::move(tune));
    const std::vector<TensorSpec> tensors = op->tensors(trial.params);
    return ceiling_of(op->impls.front(), {trial.params, tensors, trial.forms, gpu, trial.tune});
  }

  std::uint32_t invocations(const Geometry& geometry, const Tune& tune, Layout y) {
    return program_of(trial_of(geometry, tune, y)).dispatches.back().push.words().front();
  }

  const Registry ops = registry();
  const Op* op = ops.find("q8ta_conv2d_dw");
};

TEST_F(DepthwiseTest, TheCeilingIsTheDotProductsWhereItSumsProducts) {
  EXPECT_EQ(ceiling(true), Ceiling::Dot4x8);
  EXPECT_EQ(ceiling(true, {{"products", 0}}), Ceiling::Fp32);
  EXPECT_EQ(ceiling(false, {{"products", 2}}), Ceiling::Fp32) << "the shader multiplies byte by byte";
}

TEST_F(DepthwiseTest, LargeImagesHaveMorePixelsAnInvocation) {
  EXPECT_EQ(chosen({.c = 64, .h = 256, .w = 256}), "4x2 by 2");
  EXPECT_EQ(chosen({.c = 128, .h = 128, .w = 128}), "2x2 by 2");
  EXPECT_EQ(chosen({.c = 288}), "1x1 by 2");
}

TEST_F(DepthwiseTest, WordsThatDoNotFitAreLoadedARowOfTheKernelAtATime) {
  EXPECT_EQ(chosen({.c = 64, .h = 256, .w = 256, .kernel = {7, 7}, .padding = {3, 3}}), "1x4 by 1");
  EXPECT_EQ(chosen({.c = 64, .h = 16, .w = 16, .kernel = {7, 7}, .padding = {3, 3}}), "1x1 by 1");
  // 5 x 5 for one pixel, 5 x 6 for two, 5 x 7 too many.
  EXPECT_EQ(chosen({.c = 64, .h = 256, .w = 256, .kernel = {5, 5}, .padding = {2, 2}}), "1x2 by 1");
  EXPECT_EQ(chosen({.c = 64, .h = 512, .w = 512, .kernel = {5, 5}, .stride = {2, 2}}), "1x1 by 1");
}

TEST_F(DepthwiseTest, ProductsAreSummedByWhatHoldsThem) {
  EXPECT_EQ(chosen({.kernel = {3, 3}}, false), "1x1 by 1");
  EXPECT_EQ(chosen({.kernel = {3, 3}, .dilation = {1, 2}}), "1x1 by 1");
  EXPECT_EQ(chosen({.kernel = {3, 3}, .dilation = {2, 1}}), "1x1 by 2");
  EXPECT_EQ(chosen({.kernel = {3, 5}}), "1x1 by 1");
  EXPECT_EQ(chosen({.kernel = {3, 4}}), "1x1 by 2");
  EXPECT_EQ(chosen({.h = 32, .kernel = {32, 4}}), "1x1 by 1");
  EXPECT_EQ(chosen({.h = 32, .w = 32, .kernel = {16, 32}}), "1x1 by 1");
  EXPECT_EQ(chosen({.h = 32, .w = 32, .kernel = {27, 19}}), "1x1 by 0");
}

TEST_F(DepthwiseTest, RefusesWhatItCannotHold) {
  const Geometry small;
  EXPECT_EQ(refusal(small, {{"rows", 8}}), "");
  EXPECT_EQ(refusal(small, {{"rows", 8}, {"columns", 2}}),
            "8 x 2 pixels per invocation exceed the 8 that stay in registers");
  EXPECT_EQ(
      refusal({.h = 32, .w = 32, .kernel = {27, 19}}, {{"products", 1}}),
      "sums of 513 products may exceed the integers that float32 holds exactly; at most 512 products do not");
  EXPECT_EQ(refusal({.h = 32, .w = 32, .kernel = {16, 32}}, {{"products", 1}}), "");
  EXPECT_EQ(refusal({.dilation = {1, 2}}, {{"products", 2}}),
            "dot products take 2 to 4 neighbouring taps, not 3 taps that are 2 apart");
  EXPECT_EQ(refusal({.kernel = {3, 5}}, {{"products", 2}}),
            "dot products take 2 to 4 neighbouring taps, not 5 taps that are 1 apart");
  EXPECT_EQ(refusal({.h = 32, .kernel = {32, 4}}, {{"products", 2}}),
            "sums of 128 products may exceed the 22 bits of a float in which they are added");
  EXPECT_EQ(refusal({.w = 64, .kernel = {3, 4}, .stride = {1, 5}}, {{"products", 2}, {"columns", 8}}),
            "pixels and their taps span 1 x 8 words, which are too many to load at once");
}

TEST_F(DepthwiseTest, RefusesWhatItCannotCount) {
  EXPECT_NE(refusal({.c = 4, .h = 1 << 15, .w = 1 << 14}, {}), "");
  EXPECT_EQ(refusal({.c = 4, .h = 1 << 14, .w = 1 << 14}, {}), "");
  const std::int64_t far = std::int64_t{1} << 30;
  EXPECT_EQ(refusal({.w = 3, .kernel = {3, 3}, .padding = {1, far / 2}, .dilation = {1, far / 2}}, {}),
            "coordinates reach 1073741827, which exceeds the 1073741824 that this kernel can count");
  EXPECT_NE(refusal({.stride = {far + 1, 1}}, {}), "");
  EXPECT_EQ(refusal({.stride = {far, 1}}, {}), "");
}

// A kernel of which not even a row fits at once: an iteration for each tap, and two for each row and one more
// to find the ends.
TEST_F(DepthwiseTest, RefusesLoopsThatACpuLeavesEarly) {
  const auto of_kernel = [](std::int64_t rows, std::int64_t columns) {
    return Geometry{.c = 1, .h = rows, .w = columns, .kernel = {rows, columns}, .padding = {0, 0}};
  };
  const std::string too_many = "65536 loop iterations per invocation exceed the 65535 that a CPU device runs";
  EXPECT_EQ(lack_on("cpu", of_kernel(1, 65532)), "");
  EXPECT_EQ(lack_on("cpu", of_kernel(1, 65533)), too_many);
  EXPECT_EQ(lack_on("discrete", of_kernel(1, 65533)), "");
  EXPECT_EQ(lack_on("cpu", of_kernel(21844, 1)), "");
  EXPECT_EQ(lack_on("cpu", of_kernel(21845, 1)), too_many);
  EXPECT_EQ(lack_on("cpu", of_kernel(2047, 32)), "") << "a row at once";
  EXPECT_EQ(lack_on("cpu", of_kernel(255, 257)),
            "66046 loop iterations per invocation exceed the 65535 that a CPU device runs");
}

TEST_F(DepthwiseTest, RunsTheLongestLoopsOfACpu) {
  for (const Pair& kernel : {Pair{1, 65532}, {21844, 1}}) {
    Trial trial = trial_of({.c = 5, .h = kernel[0], .w = kernel[1] + 1, .kernel = kernel, .padding = {0, 0}});
    trial.seed = 5;
    expect_right(trial);
  }
}

TEST_F(DepthwiseTest, HasAsManyOutputsAndGroupsAsChannels) {
  for (const char* name : {"OC", "groups"}) {
    Params params = params_of(*op, {});
    params.set(name, std::int64_t{4});
    EXPECT_THROW(op->tensors(params), ParameterError) << name;
  }
}

TEST_F(DepthwiseTest, InvocationsAreCountedInTheOrderOfY) {
  const Geometry uneven{.n = 2, .c = 9, .h = 7, .w = 11};
  EXPECT_EQ(invocations(uneven, {{"rows", 2}, {"columns", 2}}, Layout::P4C1W), 2U * 4 * 3 * 6);
  EXPECT_EQ(invocations(uneven, {{"rows", 2}, {"columns", 2}}, Layout::P4C), 2U * 4 * 3 * 6);
  EXPECT_EQ(invocations(uneven, {{"columns", 1}}, Layout::P4W4C), 2U * 7 * 3 * 12);
  EXPECT_EQ(invocations(uneven, {{"columns", 8}}, Layout::P4W4C), 2U * 7 * 3 * 2);
}

TEST_F(DepthwiseTest, NeighboursInMemoryAreStoredAtOnce) {
  const auto stored = [&](std::int64_t width, std::int64_t columns, Layout y) {
    const Trial trial = trial_of({.w = width}, {{"columns", columns}}, y);
    return define_or_none(program_of(trial).dispatches.back(), "STORED");
  };
  EXPECT_EQ(stored(16, 8, Layout::P4C1W), "4");
  EXPECT_EQ(stored(16, 2, Layout::P4C1W), "2");
  EXPECT_EQ(stored(14, 4, Layout::P4C1W), "2");
  EXPECT_EQ(stored(13, 4, Layout::P4C1W), "1");
  EXPECT_EQ(stored(13, 4, Layout::P4W4C), "4");
  EXPECT_EQ(stored(16, 1, Layout::P4W4C), "1");
  EXPECT_EQ(stored(16, 4, Layout::P4C), "1");
}

TEST_F(DepthwiseTest, AgreesWithItsReferenceOnRandomPoints) {
  Draw draw(17);
  const auto pair = [&](std::int64_t low, std::int64_t high) {
    return Pair{draw.pick(low, high), draw.pick(low, high)};
  };
  int tried = 0;
  for (int round = 0; round < 200 && tried < 40; ++round) {
    Geometry geometry{.n = draw.pick(1, 2), .c = draw.pick(1, 9), .h = draw.pick(1, 12)};
    geometry.w = draw.pick(1, 12);
    geometry.kernel = pair(1, 5);
    geometry.padding = pair(0, 4);
    if (draw.pick(0, 1) == 1) {
      geometry.padding.push_back(draw.pick(0, 4));
      geometry.padding.push_back(draw.pick(0, 4));
    }
    geometry.stride = pair(1, 3);
    geometry.dilation = pair(1, draw.pick(1, 3));
    const auto is_empty = [&](std::size_t axis, std::int64_t length) {
      const std::size_t end = geometry.padding.size() == 4 ? axis + 2 : axis;
      return length + geometry.padding[axis] + geometry.padding[end] <
             geometry.dilation[axis] * (geometry.kernel[axis] - 1) + 1;
    };
    if (is_empty(0, geometry.h) || is_empty(1, geometry.w)) continue;
    Tune tune{{"rows", draw.one_of<std::int64_t>({1, 2, 4, 8})},
              {"columns", draw.one_of<std::int64_t>({1, 2, 4, 8})},
              {"products", draw.pick(0, 2)}};
    if (!refusal(geometry, tune).empty()) continue;
    Trial trial = trial_of(geometry, tune);
    trial.params.set("bias", draw.pick(0, 1) == 1);
    trial.params.set("activation", draw.one_of<std::string>({"none", "relu"}));
    trial.params.set("epilogue", draw.one_of<std::string>({"float32", "fixed_point"}));
    trial.forms = draw.forms(op->tensors(trial.params));
    trial.fill = draw.one_of<FillKind>({FillKind::Normal, FillKind::Uniform, FillKind::Outlier});
    trial.seed = static_cast<std::uint64_t>(round);
    expect_right(trial);
    ++tried;
  }
  EXPECT_EQ(tried, 40);
}

}  // namespace

}  // namespace assay::ops
