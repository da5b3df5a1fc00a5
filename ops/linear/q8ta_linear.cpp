#include "ops/linear/impls.h"
#include "ops/linear/requantizers.h"
#include "ops/linear/tensors.h"
#include "references/linear/linear_integer.h"

namespace assay::ops {
namespace {

std::vector<TensorSpec> tensors(const Params& params) {
  const references::Linear linear = references::linear_params(params, references::most_depth_with_zero_point);
  if (params.choice("epilogue") == "fixed_point") check_fixed_point(params);
  std::vector<TensorSpec> inputs = int8_weights(linear);
  TensorSpec x = int8_x(linear);
  TensorSpec y = int8_y(linear, x.forms);
  inputs.insert(inputs.begin(), std::move(x));
  return with_bias(linear, std::move(inputs), std::move(y));
}

}  // namespace

Op q8ta_linear() {
  const auto x_scale = [](const Params& params) { return static_cast<double>(params.qparams("x").scale); };
  return {
      .name = "q8ta_linear",
      .summary =
          "linear layer: int8 x and y with one scale each, int8 weights with one scale per output channel",
      .params = linear_params({qparams("x"), y_qparams_param(x_scale), epilogue_param()}),
      .tensors = tensors,
      .reference = references::q8ta_linear,
      .work = linear_work,
      .tokens = linear_tokens,
      .impls = linear_impls({XKind::Int8, WeightKind::Int8})};
}

}  // namespace assay::ops
