#include "ops/common/tensor_at.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::ops {
namespace {

TEST(Requantization, IsPushedAsTheShaderDeclaresItWithTheRoundedReciprocal) {
  PushConstants push;
  add(push, {{0.25F, -3}, {0.1F, 7}});
  EXPECT_THAT(push.words(),
              testing::ElementsAre(static_cast<std::uint32_t>(-3), std::bit_cast<std::uint32_t>(0.25F),
                                   std::bit_cast<std::uint32_t>(1.0F / 0.1F), 7U));
}

TEST(ScaleExcludes, ScalesWhoseStepsADeviceMayFlushOrThatOverflow) {
  for (const float scale : {0x1p-100F, 0.1F, 1.0F, 0x1p100F}) {
    EXPECT_EQ(scale_invalid_reason("x", {scale, 0}), std::nullopt) << scale;
  }
  for (const float scale : {0x1p-101F, 1e-40F, 0x1p101F, 3e38F}) {
    EXPECT_THAT(scale_invalid_reason("x", {scale, 0}).value_or(""), testing::StartsWith("x is ")) << scale;
  }
}

TEST(UnequalForms, AreNamedWithTheirTensors) {
  const Params params;
  const std::vector<TensorSpec> tensors{{.name = "x"}, {.name = "y"}};
  const std::vector<Form> equal(2, {Storage::Buffer, Layout::WP});
  EXPECT_EQ(unequal_forms(ImplPoint{params, tensors, equal, {}}, 0, 1), std::nullopt);
  const std::vector<Form> mixed{{Storage::Texture3D, Layout::WP}, {Storage::Buffer, Layout::WP}};
  EXPECT_THAT(
      unequal_forms(ImplPoint{params, tensors, mixed, {}}, 0, 1).value_or(""),
      testing::StartsWith("x is texture3d/WP and y is buffer/WP: an invocation writes where it reads"));
}

TEST(MixedForms, AreThoseOfTensorsThatHaveAChoice) {
  const Form buffer{Storage::Buffer, Layout::WP}, texture{Storage::Texture3D, Layout::WP};
  const Params params;
  const std::vector<TensorSpec> tensors{{.name = "w", .forms = {buffer}},
                                        {.name = "x", .forms = {buffer, texture}},
                                        {.name = "y", .forms = {buffer, texture}}};
  const auto reason = [&](Form x, Form y) {
    const std::vector<Form> forms{buffer, x, y};
    return mixed_forms(ImplPoint{params, tensors, forms, {}}).value_or("");
  };
  EXPECT_EQ(reason(texture, texture), "");
  EXPECT_EQ(reason(buffer, buffer), "");
  EXPECT_EQ(reason(texture, buffer),
            "x is texture3d/WP and y is buffer/WP: this kernel needs both in the same storage and layout");
}

TEST(BindingOf, IsASamplerForATextureThatIsAnInput) {
  const Form texture{Storage::Texture3D, Layout::WP};
  const std::vector<TensorSpec> tensors{
      {.name = "w"}, {.name = "x"}, {.name = "y", .role = TensorSpec::Role::Output}};
  const std::vector<Form> forms{{Storage::Buffer, Layout::WP}, texture, texture};
  const Params params;
  const DeviceInfo device;
  const Tune tune;
  const BuildContext context(params, tensors, forms, device, tune);
  EXPECT_EQ(binding_of(context, 0), Binding(Resource::tensor(0)));
  EXPECT_EQ(binding_of(context, 1), sampled(Resource::tensor(1)));
  EXPECT_EQ(binding_of(context, 2), Binding(Resource::tensor(2)));
}

}  // namespace

}  // namespace assay::ops
