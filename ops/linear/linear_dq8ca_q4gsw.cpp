#include "ops/linear/impls.h"
#include "ops/linear/tensors.h"
#include "references/linear/linear_grouped.h"

namespace assay::ops {
namespace {

std::vector<TensorSpec> tensors(const Params& params) {
  const references::Linear linear = references::linear_params(params, references::most_depth_with_zero_point);
  std::vector<TensorSpec> inputs{real_x(linear)};
  if (params.choice("activations") == "given") {
    for (TensorSpec& spec : row_qparams(linear)) inputs.push_back(std::move(spec));
  }
  for (TensorSpec& spec : int4_weights(linear)) inputs.push_back(std::move(spec));
  return with_bias(linear, std::move(inputs), real_y(linear));
}

ParamSpec activations_param() {
  return choice("activations", {"dynamic", "given"})
      .by_default(std::string("dynamic"))
      .says(
          "scale and zero point of each row of x: chosen from its values (dynamic), or the tensors x_scale "
          "and x_zero_point");
}

}  // namespace

Op linear_dq8ca_q4gsw() {
  return {
      .name = "linear_dq8ca_q4gsw",
      .summary = "linear layer: real x, each row quantized to int8; int4 weights with one scale per group",
      .params = linear_params({group_size_param(), real_dtype_param("type of x and y"), activations_param()}),
      .tensors = tensors,
      .reference = references::linear_dq8ca_q4gsw,
      .work = linear_work,
      .tokens = linear_tokens,
      .impls = linear_impls({XKind::QuantizedRows, WeightKind::Int4LowFirst})};
}

}  // namespace assay::ops
