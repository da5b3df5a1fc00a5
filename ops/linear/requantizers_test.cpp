#include "ops/linear/requantizers.h"

#include "harness/base/error.h"
#include "harness/op/setup_rules.h"
#include "ops/linear/integers_test_support.h"
#include "ops/linear/tensors.h"

// The set-up of `epilogue: fixed_point` as a program. The op here does nothing else: the scratch of a linear
// op is its output.

namespace assay::ops {
namespace {

using namespace test;
using references::Linear;

Linear linear_of(const Params& params) {
  return references::linear_params(params, references::most_depth_with_zero_point);
}

std::vector<TensorSpec> tensors(const Params& params) {
  const Linear linear = linear_of(params);
  TensorSpec made{.name = "made", .role = TensorSpec::Role::Output, .dtype = DType::I32};
  made.shape = {3, div_up(linear.n, 4) * 4};
  made.forms = {{Storage::Buffer, Layout::WP}};
  return with_bias(linear, int8_weights(linear), std::move(made));
}

std::vector<Expected> reference(const Params& params, std::span<const HostTensor> inputs) {
  const Linear linear = linear_of(params);
  const Shape shape = tensors(params).back().shape;
  Expected result{.values = HostTensor(DType::I32, shape)};
  const auto values = result.values.as<std::int32_t>();
  const auto padded = static_cast<std::size_t>(shape[1]);
  for (std::size_t n = 0; n < padded; ++n) {
    HostRequantizer of;
    if (n < static_cast<std::size_t>(linear.n)) {
      const float bias = linear.bias ? inputs[2].as<float>()[n] : 0;
      of = host_requantizer(params.qparams("x").scale, inputs[1].as<float>()[n], params.qparams("y").scale,
                            bias);
    }
    values[n] = of.multiplier;
    values[padded + n] = of.shift;
    values[2 * padded + n] = of.bias;
  }
  return {std::move(result)};
}

Program program(const BuildContext& context) {
  Program program;
  const Resource made = requantizers(program, context);
  EXPECT_EQ(broken_setup_rule(program, context.tensors), std::nullopt);
  EXPECT_EQ(setup_scratch(program), std::vector{made});
  const auto output = static_cast<std::uint32_t>(context.tensors.size() - 1);
  program.dispatches.at(0).bindings.at(1) = Resource::tensor(output);
  program.scratch.clear();
  return program;
}

Op requantizers_op() {
  Op op{.name = "requantizers"};
  op.params = linear_params({qparams("x"), qparams("y")});
  op.tensors = tensors;
  op.reference = reference;
  op.impls = {{.name = "setup", .tunables = {}, .build = program}};
  return op;
}

Params params_of(const Op& op, std::int64_t n, float x_scale, float y_scale, bool bias) {
  Params params;
  for (const char* name : {"M", "K"}) params.set(name, std::int64_t{8});
  params.set("N", n);
  params.set("x", QParams{x_scale, 3});
  params.set("y", QParams{y_scale, -5});
  params.set("bias", bias);
  return with_defaults(op, params);
}

class RequantizersTest : public OnDeviceTest {
 protected:
  const Op op = requantizers_op();
};

TEST_F(RequantizersTest, AreRightForEachChannelAndNoughtPastTheLast) {
  for (const bool bias : {false, true}) {
    for (const std::int64_t n : {1, 4, 13, 130, 4099}) {
      for (const FillKind fill : {FillKind::Normal, FillKind::Ties, FillKind::Special, FillKind::Wide}) {
        Trial trial{.op = &op, .params = params_of(op, n, 0.0173F, 0.31F, bias), .fill = fill, .seed = 31};
        for (const TensorSpec& tensor : op.tensors(trial.params)) trial.forms.push_back(tensor.forms.front());
        expect_right(trial);
      }
    }
  }
}

std::string refusal(const Params& params) {
  try {
    check_fixed_point(params);
    return "";
  } catch (const ParameterError& error) {
    EXPECT_EQ(error.parameter(), "y");
    return error.what();
  }
}

// Fills draw w_scale from 2^-8 to 2^-6.
TEST_F(RequantizersTest, ScalesOfYThatNoShiftFitsAreRefused) {
  const auto refused = [&](float x_scale, float y_scale) {
    return !refusal(params_of(op, 8, x_scale, y_scale, false)).empty();
  };
  EXPECT_FALSE(refused(0.02F, 0.3F));
  EXPECT_FALSE(refused(1, 0x1p24F)) << "shifts of 62 to 60";
  EXPECT_TRUE(refused(1, 0x1.000002p24F));
  EXPECT_FALSE(refused(1, 0x1.000002p-36F)) << "shifts of 1 to 3";
  EXPECT_TRUE(refused(1, 0x1p-36F));
  EXPECT_TRUE(refused(0x1p-149F, 1));
  EXPECT_THAT(refusal(params_of(op, 8, 1, 0x1p30F, false)),
              testing::HasSubstr("x.scale * w_scale / y.scale must lie between 2^-32 and 2^30"));
}

TEST_F(RequantizersTest, TheEndsOfWhatIsAcceptedAreShiftedBy1And62) {
  EXPECT_EQ(host_requantizer(1, 0x1p-8F, 0x1p24F, 0).shift, 62);
  EXPECT_EQ(host_requantizer(1, 0x1p-6F, 0x1.000002p-36F, 0).shift, 1);
  EXPECT_EQ(host_requantizer(1, 0x1p-6F, 0x1p-36F, 0).shift, 1) << "without the clamp it would be 0";
}

}  // namespace
}  // namespace assay::ops
