#include "references/elementwise/add.h"

#include "ops/elementwise/float_operands.h"

namespace assay::ops {
namespace {

std::vector<TensorSpec> tensors(const Params& params) {
  return float_operands(params, "a", "b");
}

Work work(const Params&, std::span<const TensorSpec> tensors) {
  Work work = streaming_work(tensors);
  work.operations = numel(tensors[2].shape);
  return work;
}

/// One rounding, which the reference makes, too.
constexpr double unit_error = 0;

}  // namespace

Op add() {
  return {
      .name = "add",
      .summary = "a + b of floats: a residual addition",
      .params = float_operand_params("a, b and y"),
      .tensors = tensors,
      .reference = references::add,
      .work = work,
      .impls = {elementwise_floats("add", unit_error)},
  };
}

}  // namespace assay::ops
