#include "ops/convolution/product.h"

#include "ops/convolution/convolution_test_support.h"

#include <algorithm>

namespace assay::ops {
namespace {

using namespace test;

/// A convolution of two images of 9 channels in 3 groups to 24 channels of 3 x 5 pixels, with 6 taps.
const ConvolutionSizes uneven{.n = 2,
                              .c = 9,
                              .h = 5,
                              .w = 6,
                              .oc = 24,
                              .kernel = {3, 2},
                              .stride = {2, 1},
                              .padding = {1, 0},
                              .groups = 3};

class ConvolutionProductTest : public ConvolutionTest {
 protected:
  /// Calls `use` with a context of the point.
  template <class Use>
  void with(const std::string& name, bool bias, Use use) const {
    const Op& op = op_of(name);
    Params params = params_of(op, uneven);
    params.set("bias", bias);
    params.set("activation", std::string("relu"));
    const std::vector<TensorSpec> tensors = op.tensors(params);
    const std::vector<Form> forms = first_forms(op, params);
    const Tune none;
    const DeviceInfo info;
    use(BuildContext(params, tensors, forms, info, none));
  }
};

TEST_F(ConvolutionProductTest, IsALinearOpOfPixelsByDepth) {
  with("q8ta_conv2d", true, [](const BuildContext& context) {
    const LinearPoint linear(context, context.physical(0), 48, {{"tile_m", 32}});
    const ImplPoint point = linear.point();
    EXPECT_EQ(point.params.integer("M"), 2 * 3 * 5);
    EXPECT_EQ(point.params.integer("K"), 48);
    EXPECT_EQ(point.params.integer("N"), 24);
    EXPECT_TRUE(point.params.boolean("bias"));
    EXPECT_EQ(point.params.choice("activation"), "relu");
    EXPECT_EQ(point.params.choice("epilogue"), "float32");
    for (const char* name : {"x", "y"}) {
      EXPECT_EQ(point.params.qparams(name).scale, context.params.qparams(name).scale);
      EXPECT_EQ(point.params.qparams(name).zero_point, context.params.qparams(name).zero_point);
    }
    EXPECT_EQ(point.tune, (Tune{{"tile_m", 32}}));
  });
}

TEST_F(ConvolutionProductTest, HasRowsOfWeightsAndTheConvolutionsOtherTensors) {
  with("q8ta_conv2d", true, [](const BuildContext& context) {
    const LinearPoint linear(context, context.physical(0), 48, {});
    const ImplPoint point = linear.point();
    ASSERT_EQ(point.tensors.size(), 5U);
    EXPECT_EQ(point.tensors[0].shape, (Shape{2, 9, 5, 6})) << "images until rows are set";
    EXPECT_EQ(point.tensors[1].shape, (Shape{24, 48}));
    EXPECT_EQ(point.tensors[2].name, "w_scale");
    EXPECT_EQ(point.tensors[3].name, "bias");
    EXPECT_EQ(point.tensors[4].shape, (Shape{2, 24, 3, 5}));
    const Resource x = Resource::scratch(3), w = Resource::scratch(1);
    EXPECT_EQ(linear.resources(x, w),
              (std::vector<Resource>{x, w, Resource::tensor(2), Resource::tensor(3), Resource::tensor(4)}));
  });
  with("q8ta_conv2d", false, [](const BuildContext& context) {
    EXPECT_EQ(LinearPoint(context, context.physical(0), 48, {}).resources({}, {}).size(), 4U);
  });
}

TEST_F(ConvolutionProductTest, IsOfRowsWhereTheseAreSet) {
  with("q8ta_conv2d", false, [](const BuildContext& context) {
    LinearPoint linear(context, context.physical(0), 9, {});
    linear.set_rows(64, Layout::P4H4W);
    const ImplPoint point = linear.point();
    EXPECT_EQ(point.params.integer("M"), 64);
    EXPECT_EQ(point.physical(0).shape(), (Shape{64, 9}));
    EXPECT_EQ(point.physical(0).form().layout, Layout::P4H4W);
    EXPECT_EQ(point.physical(3).shape(), (Shape{64, 24}));
    EXPECT_EQ(point.physical(3).form().layout, Layout::P4H4W);
  });
}

TEST_F(ConvolutionProductTest, WeightsAreLaidOutOnceBeforeAnythingIsTimed) {
  with("q8ta_conv2d", false, [](const BuildContext& context) {
    const Gathering gathering(references::checked_convolution(context.params));
    Program program;
    const Resource rows = weight_rows(program, context, gathering, 48);
    ASSERT_EQ(program.dispatches.size(), 1U);
    const Dispatch& dispatch = program.dispatches.front();
    EXPECT_EQ(dispatch.role, DispatchRole::Setup);
    EXPECT_EQ(dispatch.bindings, (std::vector<Binding>{Resource::tensor(1), rows}));
    EXPECT_EQ(std::int64_t{dispatch.workgroups[0]} * dispatch.local_size[0], div_up(24 * 48 / 4, 64) * 64);
    EXPECT_EQ(program.scratch.at(rows.index).shape, (Shape{24, 48}));
    EXPECT_EQ(program.scratch.at(rows.index).dtype, DType::I8);
  });
}

TEST_F(ConvolutionProductTest, IntegersAreReadWhereTheyLie) {
  with("q8ta_conv2d", false, [](const BuildContext& context) {
    Program program;
    EXPECT_EQ(integer_images(program, context).resource, Resource::tensor(0));
    EXPECT_TRUE(program.dispatches.empty());
    EXPECT_TRUE(program.scratch.empty());
  });
}

TEST_F(ConvolutionProductTest, RealValuesAreQuantizedIntoWordsOfChannels) {
  with("conv2d_q8ta_q8csw", false, [](const BuildContext& context) {
    Program program;
    const TensorAt x = integer_images(program, context);
    EXPECT_EQ(x.resource, Resource::scratch(0));
    EXPECT_EQ(x.physical.form().layout, Layout::P4C);
    EXPECT_EQ(x.physical.dtype(), DType::I8);
    EXPECT_EQ(x.physical.shape(), (Shape{2, 9, 5, 6}));
    EXPECT_EQ(integer_images_form(context).form().layout, Layout::P4C);
    ASSERT_EQ(program.dispatches.size(), 1U);
    EXPECT_EQ(program.dispatches.front().role, DispatchRole::Op) << "it is timed";
  });
}

}  // namespace
}  // namespace assay::ops
