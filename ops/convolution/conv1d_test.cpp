#include "ops/convolution/conv1d.h"

#include "harness/base/error.h"
#include "ops/registry.h"
#include "tests/support/error_text.h"
#include "tests/support/on_device.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <utility>

// conv1d_pw and conv1d_dw: which kernels are built, what is refused, and random points compared with the
// reference.

namespace assay::ops {
namespace {

using namespace test;
using testing::HasSubstr;

constexpr Form in_buffer{Storage::Buffer, Layout::WP};
constexpr Form in_texture{Storage::Texture3D, Layout::WP};

struct Sizes {
  std::int64_t n = 1, c = 8, l = 16, oc = 6;
  std::int64_t kernel = 1, stride = 1, dilation = 1;
  std::vector<std::int64_t> padding{0};
  std::string dtype = "f32";
};

class Conv1dTest : public OnDeviceTest {
 protected:
  Params params_of(const Op& op, const Sizes& sizes) const {
    Params params;
    for (const auto& [name, value] : {std::pair{"N", sizes.n},
                                      {"C", sizes.c},
                                      {"L", sizes.l},
                                      {"OC", sizes.oc},
                                      {"kernel", sizes.kernel},
                                      {"stride", sizes.stride},
                                      {"dilation", sizes.dilation}}) {
      if (op.find_param(name) != nullptr) params.set(name, value);
    }
    params.set("padding", sizes.padding);
    params.set("dtype", sizes.dtype);
    return with_defaults(op, std::move(params));
  }

  Trial trial_of(const std::string& name, const Sizes& sizes) const {
    Trial trial{.op = ops.find(name)};
    trial.params = params_of(*trial.op, sizes);
    add_forms(trial);
    return trial;
  }

  static void add_forms(Trial& trial) {
    trial.forms.assign(trial.op->tensors(trial.params).size(), in_buffer);
  }

  static Trial in_textures(Trial trial) {
    trial.forms.front() = trial.forms.back() = in_texture;
    return trial;
  }

  std::string define_in(const std::string& op, const Sizes& sizes, std::string_view name,
                        Form form = in_buffer) {
    const Trial trial = trial_of(op, sizes);
    const Program program = program_of(is_texture(form) ? in_textures(trial) : trial);
    const std::vector<Define>& defines = program.dispatches.back().defines;
    const auto found = std::ranges::find(defines, name, &Define::name);
    return found == defines.end() ? "none" : found->value;
  }

  std::string refusal(const std::string& op, const Sizes& sizes) const {
    return refusal(trial_of(op, sizes));
  }

  static std::string refusal(const Trial& trial) {
    const std::vector<TensorSpec> tensors = trial.op->tensors(trial.params);
    return trial.op->impls.front()
        .invalid_reason({trial.params, tensors, trial.forms, trial.tune})
        .value_or("");
  }

  /// Why a device cannot run it; "" if it can.
  static std::string lack_of(const Trial& trial, const DeviceInfo& device) {
    const std::vector<TensorSpec> tensors = trial.op->tensors(trial.params);
    const BuildContext context(trial.params, tensors, trial.forms, device, trial.tune);
    return missing_for(trial.op->impls.front(), context).value_or("");
  }

  Work work(const std::string& op, const Sizes& sizes) const {
    const Trial trial = trial_of(op, sizes);
    return trial.op->work(trial.params, trial.op->tensors(trial.params));
  }
  std::int64_t operations(const std::string& op, const Sizes& sizes) const {
    return work(op, sizes).operations;
  }

  const Registry ops = registry();
};

TEST_F(Conv1dTest, AgreesWithItsReferenceOnRandomPoints) {
  Draw draw(29);
  int tried = 0;
  for (int round = 0; round < 200 && tried < 60 && !HasFatalFailure(); ++round) {
    const bool depthwise = draw.pick(0, 1) == 1;
    Sizes sizes{.n = draw.pick(1, 3), .c = draw.pick(1, 40), .l = draw.pick(1, 50), .oc = draw.pick(1, 40)};
    sizes.kernel = depthwise ? draw.pick(1, 9) : 1;
    sizes.stride = draw.pick(1, 3);
    sizes.dilation = depthwise ? draw.pick(1, 3) : 1;
    sizes.padding = {draw.pick(0, 5)};
    if (draw.pick(0, 1) == 1) sizes.padding.push_back(draw.pick(0, 5));
    sizes.dtype = draw.one_of<std::string>({"f32", "f16"});
    if (sizes.l + sizes.padding.front() + sizes.padding.back() <= sizes.dilation * (sizes.kernel - 1))
      continue;
    Trial trial = trial_of(depthwise ? "conv1d_dw" : "conv1d_pw", sizes);
    trial.params.set("bias", draw.pick(0, 1) == 1);
    add_forms(trial);
    trial.seed = static_cast<std::uint64_t>(round);
    trial.fill = draw.one_of<FillKind>({FillKind::Normal, FillKind::Wide, FillKind::Mixed, FillKind::Nan});
    expect_right(round % 3 == 0 ? in_textures(trial) : trial);
    ++tried;
  }
  EXPECT_EQ(tried, 60);
}

TEST_F(Conv1dTest, QuadsOfXAreReadWhereTheyBecomeQuadsOfY) {
  EXPECT_EQ(define_in("conv1d_pw", {}, "B_ALIGNED"), "1");
  EXPECT_EQ(define_in("conv1d_pw", {.l = 15}, "B_ALIGNED"), "0");
  EXPECT_EQ(define_in("conv1d_pw", {.stride = 2}, "B_ALIGNED"), "0");
  EXPECT_EQ(define_in("conv1d_pw", {.padding = {0, 4}}, "B_ALIGNED"), "0");
  EXPECT_EQ(define_in("conv1d_pw", {.padding = {2}}, "B_ALIGNED"), "0");
}

TEST_F(Conv1dTest, TexelsOfXAreReadWhereTheyBecomeTexelsOfY) {
  EXPECT_EQ(define_in("conv1d_pw", {.l = 15}, "B_ALIGNED", in_texture), "1");
  EXPECT_EQ(define_in("conv1d_pw", {.stride = 2}, "B_ALIGNED", in_texture), "0");
  EXPECT_EQ(define_in("conv1d_pw", {.padding = {1, 0}}, "B_ALIGNED", in_texture), "0");
}

TEST_F(Conv1dTest, AnInvocationMakesATexelOfYWhoseValuesHaveOneChannel) {
  const Sizes sizes{.n = 2, .c = 3, .l = 15, .kernel = 3};  // 13 places of y
  EXPECT_EQ(define_in("conv1d_dw", sizes, "ROLLING"), "0");
  EXPECT_EQ(define_in("conv1d_dw", sizes, "ROLLING", in_texture), "1");
  const Program program = program_of(in_textures(trial_of("conv1d_dw", sizes)));
  EXPECT_EQ(program.dispatches.at(0).push.words().front(), 2 * 3 * 4);
}

TEST_F(Conv1dTest, XAndYAreBothInBuffersOrBothInTextures) {
  for (const std::string op : {"conv1d_dw", "conv1d_pw"}) {
    Trial trial = in_textures(trial_of(op, {}));
    EXPECT_EQ(refusal(trial), "");
    trial.forms.front() = in_buffer;
    EXPECT_EQ(refusal(trial),
              "x is buffer/WP and y is texture3d/WP: this kernel needs both in the same storage and layout");
    EXPECT_EQ(trial.op->tensors(trial.params).at(1).forms, std::vector<Form>{in_buffer}) << "w";
  }
}

TEST_F(Conv1dTest, TexelsAreCountedWithTheirPadding) {
  const Trial trial = trial_of("conv1d_dw", {.c = std::int64_t{1} << 29, .l = 3});
  EXPECT_EQ(refusal(trial), "");
  EXPECT_THAT(refusal(in_textures(trial)), HasSubstr("x: 2147483648 elements as texture3d/WP"));
}

TEST_F(Conv1dTest, PlacesAreTestedWhereSomeReadThePadding) {
  EXPECT_EQ(define_in("conv1d_pw", {.stride = 2}, "PADDED"), "0");
  EXPECT_EQ(define_in("conv1d_pw", {.padding = {1, 0}}, "PADDED"), "1");
  EXPECT_EQ(define_in("conv1d_pw", {.padding = {0, 1}}, "PADDED"), "1");
  EXPECT_EQ(define_in("conv1d_pw", {.stride = 4, .padding = {0, 1}}, "PADDED"), "1");
  EXPECT_EQ(define_in("conv1d_pw", {.stride = 5, .padding = {0, 1}}, "PADDED"), "0")
      << "the last place is 15";
}

TEST_F(Conv1dTest, ValuesAreReadOnceWhereTapsOfNeighboursMeetThem) {
  EXPECT_EQ(define_in("conv1d_dw", {.kernel = 3, .padding = {1}}, "ROLLING"), "1");
  EXPECT_EQ(define_in("conv1d_dw", {.kernel = 3, .stride = 2, .dilation = 2, .padding = {2, 1}}, "ROLLING"),
            "1");
  EXPECT_EQ(define_in("conv1d_dw", {.kernel = 3, .stride = 2, .padding = {1}}, "ROLLING"), "0");
  EXPECT_EQ(define_in("conv1d_dw", {.kernel = 3}, "ROLLING"), "0") << "rows of 14";
  EXPECT_EQ(define_in("conv1d_dw", {.kernel = 3}, "WHOLE"), "1");
}

TEST_F(Conv1dTest, WorkIsTheTapsThatMeetX) {
  EXPECT_EQ(operations("conv1d_dw", {.n = 2, .c = 3, .l = 4, .kernel = 3, .padding = {1}}), 2 * 2 * 3 * 10);
  EXPECT_EQ(operations("conv1d_pw", {.n = 2, .c = 3, .l = 4, .oc = 5, .padding = {1, 2}}), 2 * 2 * 3 * 5 * 4);
}

TEST_F(Conv1dTest, WhatAStridePassesOverIsNotRead) {
  EXPECT_EQ(work("conv1d_dw", {.n = 2, .c = 3, .l = 16, .stride = 5}).bytes_read, 4 * (2 * 3 * 4 + 3));
  EXPECT_EQ(work("conv1d_dw", {.c = 3, .l = 16, .kernel = 2, .stride = 4, .dilation = 3}).bytes_read,
            4 * (3 * 8 + 3 * 2))
      << "0, 3, 4, 7, 8, 11, 12, 15";
  EXPECT_EQ(work("conv1d_pw", {.c = 3, .l = 16, .oc = 5, .stride = 4}).bytes_read, 4 * (3 * 4 + 5 * 3));
}

TEST_F(Conv1dTest, RefusesWhatItCannotCount) {
  const std::int64_t far = std::int64_t{1} << 30;
  EXPECT_EQ(refusal("conv1d_pw", {.stride = far}), "");
  EXPECT_EQ(refusal("conv1d_pw", {.stride = far + 1}),
            "places reach 1073741825, which exceeds the 1073741824 that this kernel can count");
  EXPECT_EQ(refusal("conv1d_dw", {.c = 1, .stride = far, .padding = {far - 15, 0}}),
            "places reach 1073741825, which exceeds the 1073741824 that this kernel can count");
}

TEST_F(Conv1dTest, RefusesMoreSlotsThanItCanCount) {
  const std::int64_t sequences = std::int64_t{1} << 27;
  Trial trial = trial_of("conv1d_pw", {.n = sequences, .c = 1, .l = 1, .oc = 1});
  trial.tune = {{"tile_m", 16}, {"tile_n", 16}};
  EXPECT_EQ(
      lack_of(trial, DeviceInfo{.type = "discrete"}),
      "tiles of y have 2147483648 rows in all, which exceeds the 2147483647 that this kernel can count");
}

TEST_F(Conv1dTest, RefusesLoopsThatACpuLeavesEarly) {
  constexpr std::int64_t most = 65535;
  const Trial longest = trial_of("conv1d_dw", {.c = 1, .l = most + 5, .kernel = most});
  EXPECT_EQ(lack_of(longest, DeviceInfo{.type = "cpu"}), "");
  const Trial longer = trial_of("conv1d_dw", {.c = 1, .l = most + 5, .kernel = most + 1});
  EXPECT_EQ(lack_of(longer, DeviceInfo{.type = "cpu"}),
            "65536 loop iterations per invocation exceed the 65535 that a CPU device runs");
  EXPECT_EQ(lack_of(longer, DeviceInfo{.type = "discrete"}), "");
}

TEST_F(Conv1dTest, RefusesSlabsThatACpuLeavesEarly) {
  const Trial deep = trial_of("conv1d_pw", {.c = 262144, .l = 4, .oc = 1});
  EXPECT_EQ(lack_of(deep, DeviceInfo{.type = "cpu"}),
            "81921 loop iterations per invocation exceed the 65535 that a CPU device runs");
  EXPECT_EQ(lack_of(deep, DeviceInfo{.type = "discrete"}), "");
}

TEST_F(Conv1dTest, RunsTheLongestLoopsOfACpu) {
  Trial rolling = trial_of("conv1d_dw", {.c = 1, .l = 65535 + 3, .kernel = 65535});
  rolling.seed = 3;
  expect_right(rolling);
  Trial other = trial_of("conv1d_dw", {.c = 1, .l = 65535 + 4, .kernel = 65535});
  other.seed = 4;
  expect_right(other);
}

TEST_F(Conv1dTest, APointwiseOneHasOneTap) {
  EXPECT_THAT(error_of([&] { ops.find("conv1d_pw")->find_param("kernel")->check(std::int64_t{3}); }),
              HasSubstr("kernel must be between 1 and 1"));
}

}  // namespace
}  // namespace assay::ops
