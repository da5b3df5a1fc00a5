#include "ops/transformer/softmax.h"

#include "harness/op/op.h"
#include "ops/common/unit_error.h"
#include "ops/transformer/rows.h"
#include "references/transformer/softmax.h"

#include <utility>

namespace assay::ops {
namespace {

constexpr std::int64_t operations = 5;  // max, -, exp, +, *

std::vector<TensorSpec> tensors(const Params& params) {
  const Shape& shape = params.ints("shape");
  TensorSpec x = or_texture(row_tensor("x", parse_dtype(params.choice("dtype")).value(), shape));
  TensorSpec y = x;
  y.name = "y";
  y.role = TensorSpec::Role::Output;
  y.output_class = OutputClass::Bounded;
  if (shape.back() == 1) y.constant_because = "a row of one number has all of the sum";
  return {std::move(x), std::move(y)};
}

Work work(const Params&, std::span<const TensorSpec> tensors) {
  Work work = streaming_work(tensors);
  work.operations = operations * numel(tensors[0].shape);
  return work;
}

}  // namespace

Program softmax_program(const BuildContext& context) {
  return {.dispatches = {row_dispatch(context, "softmax", "softmax.comp", 2)}};
}

/// With d = |x - m|: the difference is off by half an ULP, which changes exp() by d/2 ULP, and exp() by 3 +
/// 2d ULP: 3 + 2.5d. The sum has the errors of its terms, 3 ULP and 2.5 times the weighted d, and those of
/// its additions; its reciprocal 2.5 ULP, the product half of one. Together that is less than 10 ULP and the
/// additions' gamma times 1 + d + the weighted d.
double softmax_unit_error(const BuildContext& context) {
  return softmax_term_error + softmax_sum_error(context);
}

double softmax_sum_error(const BuildContext& context) {
  return gamma_of(additions_of_row(context));
}

Op softmax() {
  return {
      .name = "softmax",
      .summary = "exp(x) / sum of exp(x) along the last dim",
      .params = {shape("shape", rank(1, 4)).says("of x and y"),
                 choice("dtype", {"f32", "f16"}).by_default(std::string("f32")).says("type of x and y")},
      .tensors = tensors,
      .reference = references::softmax,
      .work = work,
      .impls = {rows_impl(softmax_program, rows_invalid_reason, softmax_unit_error)},
  };
}

}  // namespace assay::ops
