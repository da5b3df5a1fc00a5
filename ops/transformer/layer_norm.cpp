#include "harness/op/op.h"
#include "ops/common/unit_error.h"
#include "ops/transformer/norms.h"
#include "ops/transformer/rows.h"
#include "references/transformer/norms.h"

#include <utility>

namespace assay::ops {
namespace {

constexpr std::int64_t operations = 7;  // +, -, *, +, *, *, +

std::vector<TensorSpec> tensors(const Params& params) {
  const Shape& shape = params.ints("shape");
  const DType dtype = parse_dtype(params.choice("dtype")).value();
  TensorSpec x = or_texture(norm_input("x", dtype, shape));
  TensorSpec w = norm_input("w", dtype, {shape.back()});
  w.constant = true;
  TensorSpec b = w;
  b.name = "b";
  TensorSpec y = norm_output(x);
  if (shape.back() == 1) y.constant_because = "a row of one number is its mean, so that y is b";
  return {std::move(x), std::move(w), std::move(b), std::move(y)};
}

Work work(const Params&, std::span<const TensorSpec> tensors) {
  Work work = streaming_work(tensors);
  work.operations = operations * numel(tensors[0].shape);
  return work;
}

Program rows(const BuildContext& context) {
  Program program = norm_program(context, "layer_norm");
  program.dispatches[0].push.add(inverse_width(context));
  return program;
}

/// The mean is off by the gamma of its additions, factor and product, of mean|x|, and so is every deviation,
/// after one more rounding. These errors enter y twice: by its own deviation, and by the root, which errors
/// of the deviations change by at most their own size: the two terms of the magnitude. The root has its own
/// error besides, and two products and the sum with b follow.
double unit_error(const BuildContext& context) {
  return gamma_of(additions_of_row(context) + 3) + error_of_inverse_root(context) + gamma_of(3);
}

}  // namespace

Op layer_norm() {
  return {
      .name = "layer_norm",
      .summary = "(x - mean) / sqrt(variance + eps) * w + b along the last dim",
      .params = norm_params(),
      .tensors = tensors,
      .reference = references::layer_norm,
      .work = work,
      .impls = {rows_impl(rows, norm_invalid_reason, unit_error)},
  };
}

}  // namespace assay::ops
