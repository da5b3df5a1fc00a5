#include "ops/linear/impls.h"
#include "ops/linear/tensors.h"
#include "references/linear/linear_grouped.h"

namespace assay::ops {
namespace {

std::vector<TensorSpec> tensors(const Params& params) {
  const references::Linear linear = references::linear_params(params, references::most_depth_with_zero_point);
  return with_bias(linear, int8_rows_and_int4_weights(linear), real_y(linear));
}

}  // namespace

Op linear_qta8a_qga4w() {
  return {.name = "linear_qta8a_qga4w",
          .summary =
              "linear layer: int8 x with one scale per row, int4 weights with one scale and zero point per "
              "group, real y",
          .params = linear_params({group_size_param(), real_dtype_param("type of y")}),
          .tensors = tensors,
          .reference = references::linear_qta8a_qga4w,
          .work = linear_work,
          .tokens = linear_tokens,
          .impls = coop_impls({XKind::Int8, WeightKind::Int4HighFirst})};
}

}  // namespace assay::ops
