#include "ops/registry.h"
#include "tests/support/on_device.h"

#include <algorithm>

namespace assay::ops {
namespace {

using namespace test;

const std::vector<FillKind> relu_fills{FillKind::Normal, FillKind::Uniform, FillKind::Saturate,
                                       FillKind::Outlier};

Params relu_params(const Shape& shape, QParams x, QParams y) {
  Params params;
  params.set("shape", shape);
  params.set("x", x);
  params.set("y", y);
  return params;
}

class ReluOpTest : public OnDeviceTest {
 protected:
  void expect_right_in_every_pair(const Shape& shape, QParams x, QParams y) {
    const Params params = relu_params(shape, x, y);
    const std::vector<Form> forms = op->tensors(params).front().forms;
    EXPECT_EQ(forms.size(), 5U);
    for (const Form from : forms) {
      for (const Form to : forms) {
        expect_right({.op = op, .params = params, .forms = {from, to}, .fill = FillKind::Uniform});
      }
    }
  }

  std::optional<std::string> reason(float x, float y) {
    const Params params = relu_params({4, 4}, {x, 0}, {y, 0});
    const std::vector<TensorSpec> tensors = op->tensors(params);
    const std::vector<Form> forms(2, tensors.front().forms.front());
    return op->impls.front().invalid_reason(ImplPoint{params, tensors, forms, {}});
  }

  Registry ops = registry();
  const Op* op = ops.find("q8ta_relu");
};

TEST_F(ReluOpTest, IsRightInEveryPairOfLayouts) {
  expect_right_in_every_pair({2, 5, 3, 7}, {0.02F, -11}, {0.011F, -100});
  expect_right_in_every_pair({2, 8, 4, 12}, {0.125F, 3}, {0.25F, -9});
}

TEST_F(ReluOpTest, AgreesWithItsReferenceOnRandomPoints) {
  Draw draw(81);
  for (int round = 0; round < 60 && !HasFatalFailure(); ++round) {
    const Params params = relu_params(draw.shape(11), draw.qparams(), draw.qparams());
    Trial trial{.op = op, .params = params, .seed = static_cast<std::uint64_t>(round)};
    trial.forms = draw.forms(op->tensors(params));
    if (round % 2 == 0) trial.forms[1] = trial.forms[0];
    trial.fill = draw.one_of(relu_fills);
    if (round % 3 == 0) {
      trial.tune = {{"local_size", draw.one_of<std::int64_t>({1, 7, 128})},
                    {"vectors_per_invocation", draw.pick(1, 4)}};
    }
    expect_right(trial);
  }
}

TEST_F(ReluOpTest, AllowsExtremeScalesAndZeroPoints) {
  for (const float x : {0x1p-100F, 1.0F, 0x1p100F}) {
    for (const float y : {0x1p-100F, 1.0F, 0x1p100F}) {
      for (const std::int32_t zero_point : {-128, 127}) {
        const Params params = relu_params({3, 6, 5}, {x, -zero_point / 2}, {y, zero_point});
        expect_right({.op = op,
                      .params = params,
                      .forms = {{Storage::Buffer, Layout::P4C}, {Storage::Buffer, Layout::P4C}},
                      .fill = FillKind::Uniform});
      }
    }
  }
}

TEST_F(ReluOpTest, MovesVectorsInOneLayoutAndTilesBetweenTwo) {
  const auto dispatch_of = [&](const Shape& shape, Layout x, Layout y) {
    return program_of({.op = op,
                       .params = relu_params(shape, {0.02F, 0}, {0.02F, 0}),
                       .forms = {{Storage::Buffer, x}, {Storage::Buffer, y}}})
        .dispatches.front();
  };
  const auto whole = [&](const Shape& shape, Layout layout) {
    const Dispatch dispatch = dispatch_of(shape, layout, layout);
    EXPECT_EQ(dispatch.shader, "q8ta_relu.comp");
    return dispatch.defines.front() == Define{"WHOLE_QUADS", "1"};
  };
  EXPECT_TRUE(whole({2, 5, 3, 7}, Layout::P4W4C));
  EXPECT_TRUE(whole({16, 8}, Layout::P4W));
  EXPECT_FALSE(whole({15, 4}, Layout::P4W));
  EXPECT_EQ(dispatch_of({4, 4}, Layout::P4W, Layout::P4C).shader, "relayout.comp");
}

TEST_F(ReluOpTest, ManyWordsAreSeveralVectorsAnInvocation) {
  const Params params = relu_params({(1 << 24) + 5}, {0.02F, 3}, {0.03F, -9});
  const Form p4w{Storage::Buffer, Layout::P4W};
  const Trial trial{.op = op, .params = params, .forms = {p4w, p4w}, .fill = FillKind::Uniform};
  const Dispatch dispatch = program_of(trial).dispatches.front();
  EXPECT_EQ(constant_of(dispatch, "vectors_per_invocation"), 4U);
  expect_right(trial);
}

TEST_F(ReluOpTest, DeclaresWhatTheQparamsExplain) {
  const auto output = [&](QParams x, QParams y) { return op->tensors(relu_params({4}, x, y)).back(); };
  EXPECT_FALSE(output({0.05F, -128}, {0.05F, -128}).copy_because.empty());
  EXPECT_TRUE(output({0.05F, -128}, {0.06F, -128}).copy_because.empty());
  EXPECT_TRUE(output({0.05F, 0}, {0.05F, 0}).copy_because.empty());
  EXPECT_FALSE(output({0.05F, 127}, {0.05F, 3}).constant_because.empty());
  EXPECT_FALSE(output({0.05F, 3}, {0.05F, 127}).constant_because.empty());
  EXPECT_FALSE(output({0.0001F, 3}, {0.5F, 3}).constant_because.empty());
  EXPECT_TRUE(output({0.05F, 126}, {0.05F, 3}).constant_because.empty());
}

TEST_F(ReluOpTest, ExcludesScalesWhoseStepsADeviceMayFlush) {
  EXPECT_EQ(reason(0.5F, 0.25F), std::nullopt);
  EXPECT_NE(reason(3e38F, 0.25F), std::nullopt);
  EXPECT_NE(reason(0.5F, 1e-39F), std::nullopt);
}

}  // namespace
}  // namespace assay::ops
