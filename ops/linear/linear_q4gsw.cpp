#include "ops/linear/impls.h"
#include "ops/linear/tensors.h"
#include "references/linear/linear_real.h"

namespace assay::ops {
namespace {

std::vector<TensorSpec> tensors(const Params& params) {
  const references::Linear linear = references::linear_params(params, references::any_depth);
  std::vector<TensorSpec> inputs = int4_weights(linear);
  inputs.insert(inputs.begin(), real_x(linear));
  return with_bias(linear, std::move(inputs), real_y(linear));
}

}  // namespace

Op linear_q4gsw() {
  return {.name = "linear_q4gsw",
          .summary = "linear layer: real x, int4 weights with one scale per group",
          .params = linear_params({group_size_param(), real_dtype_param("type of x and y")}),
          .tensors = tensors,
          .reference = references::linear_q4gsw,
          .work = linear_work,
          .tokens = linear_tokens,
          .impls = linear_impls({XKind::Real, WeightKind::Int4LowFirst})};
}

}  // namespace assay::ops
