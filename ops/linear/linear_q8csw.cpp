#include "ops/linear/impls.h"
#include "ops/linear/tensors.h"
#include "references/linear/linear_real.h"

namespace assay::ops {
namespace {

std::vector<TensorSpec> tensors(const Params& params) {
  const references::Linear linear = references::linear_params(params, references::any_depth);
  std::vector<TensorSpec> inputs = int8_weights(linear);
  inputs.insert(inputs.begin(), real_x(linear));
  return with_bias(linear, std::move(inputs), real_y(linear));
}

}  // namespace

Op linear_q8csw() {
  return {.name = "linear_q8csw",
          .summary = "linear layer: real x, int8 weights with one scale per output channel",
          .params = linear_params({real_dtype_param("type of x and y")}),
          .tensors = tensors,
          .reference = references::linear_q8csw,
          .work = linear_work,
          .tokens = linear_tokens,
          .impls = linear_impls({XKind::Real, WeightKind::Int8})};
}

}  // namespace assay::ops
