#include "ops/linear/impls.h"
#include "ops/linear/tensors.h"
#include "references/linear/linear_integer.h"

namespace assay::ops {
namespace {

std::vector<TensorSpec> tensors(const Params& params) {
  const references::Linear linear = references::linear_params(params, references::most_depth_with_zero_point);
  TensorSpec x = real_x(linear);
  // The fill `saturate` covers twice the range, so that half of the values lie beyond its ends.
  x.domain = {FillRole::Data, 0, 256.0 * static_cast<double>(params.qparams("x").scale)};
  std::vector<TensorSpec> inputs = int8_weights(linear);
  inputs.insert(inputs.begin(), std::move(x));
  TensorSpec y = real_y(linear);
  if (y.dtype == DType::F32) y.output_class = OutputClass::Exact;
  return with_bias(linear, std::move(inputs), std::move(y));
}

}  // namespace

Op linear_q8ta_q8csw() {
  return {.name = "linear_q8ta_q8csw",
          .summary =
              "linear layer: real x, quantized to int8 with one scale; int8 weights with one scale per "
              "output channel",
          .params = linear_params({real_dtype_param("type of x and y"), qparams("x")}),
          .tensors = tensors,
          .reference = references::linear_q8ta_q8csw,
          .work = linear_work,
          .tokens = linear_tokens,
          .impls = linear_impls({XKind::Quantized, WeightKind::Int8})};
}

}  // namespace assay::ops
