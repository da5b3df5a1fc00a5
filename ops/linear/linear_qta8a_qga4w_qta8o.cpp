#include "ops/linear/impls.h"
#include "ops/linear/tensors.h"
#include "references/linear/linear_grouped.h"

namespace assay::ops {
namespace {

std::vector<TensorSpec> tensors(const Params& params) {
  const references::Linear linear = references::linear_params(params, references::most_depth_with_zero_point);
  std::vector<TensorSpec> inputs = int8_rows_and_int4_weights(linear);
  TensorSpec y = int8_y(linear, inputs.front().forms);
  y.output_class = OutputClass::Banded;
  return with_bias(linear, std::move(inputs), std::move(y));
}

}  // namespace

Op linear_qta8a_qga4w_qta8o() {
  return {.name = "linear_qta8a_qga4w_qta8o",
          .summary =
              "linear layer: int8 x with one scale per row, int4 weights with one scale and zero point per "
              "group, int8 y",
          .params = linear_params({group_size_param(), y_qparams_param(typical_row_scale)}),
          .tensors = tensors,
          .reference = references::linear_qta8a_qga4w_qta8o,
          .work = linear_work,
          .tokens = linear_tokens,
          .impls = coop_impls({XKind::Int8, WeightKind::Int4HighFirst})};
}

}  // namespace assay::ops
