#include "harness/op/op.h"
#include "ops/common/shader_values.h"
#include "ops/common/unit_error.h"
#include "ops/transformer/norms.h"
#include "ops/transformer/rows.h"
#include "references/transformer/norms.h"

#include <utility>

namespace assay::ops {
namespace {

constexpr std::int64_t operations = 4;   // *, +, *, *
constexpr double largest_half = 0x1p14;  // of a sum's two halves: the sum is no infinity

std::vector<TensorSpec> tensors(const Params& params) {
  const Shape& shape = params.ints("shape");
  const DType dtype = parse_dtype(params.choice("dtype")).value();
  TensorSpec x = or_texture(norm_input("x", dtype, shape));
  TensorSpec w = norm_input("w", dtype, {shape.back()});
  w.constant = true;
  TensorSpec y = norm_output(x);
  if (!params.boolean("residual")) return {std::move(x), std::move(w), std::move(y)};
  if (dtype == DType::F16) x.domain.most = largest_half;
  TensorSpec residual = x;
  residual.name = "residual";
  TensorSpec h = y;
  h.name = "h";
  return {std::move(x), std::move(w), std::move(residual), std::move(y), std::move(h)};
}

Work work(const Params& params, std::span<const TensorSpec> tensors) {
  Work work = streaming_work(tensors);
  work.operations = (operations + (params.boolean("residual") ? 1 : 0)) * numel(tensors[0].shape);
  return work;
}

Program rows(const BuildContext& context) {
  Program program = norm_program(context, "rms_norm");
  program.dispatches[0].defines.push_back({"RESIDUAL", flag(context.params.boolean("residual"))});
  return program;
}

/// That of the root, and of two products.
double unit_error(const BuildContext& context) {
  return error_of_inverse_root(context) + gamma_of(2);
}

std::vector<ParamSpec> params() {
  std::vector<ParamSpec> params = norm_params();
  params.push_back(boolean("residual")
                       .by_default(false)
                       .says("y is the norm of h = x + residual, which is a second output"));
  return params;
}

}  // namespace

Op rms_norm() {
  return {
      .name = "rms_norm",
      .summary = "x * w / sqrt(mean(x^2) + eps) along the last dim, with an optional residual added before",
      .params = params(),
      .tensors = tensors,
      .reference = references::rms_norm,
      .work = work,
      .impls = {rows_impl(rows, norm_invalid_reason, unit_error)},
  };
}

}  // namespace assay::ops
