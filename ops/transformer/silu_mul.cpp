#include "references/transformer/silu_mul.h"

#include "ops/common/unit_error.h"
#include "ops/elementwise/float_operands.h"

namespace assay::ops {
namespace {

constexpr std::int64_t operations = 4;  // exp, +, /, *
/// The fill `saturate` then has gates between -200 and 200: exp() overflows, and its results are flushed.
constexpr double large_gate = 100;

std::vector<TensorSpec> tensors(const Params& params) {
  std::vector<TensorSpec> all = float_operands(params, "g", "u");
  all[0].domain.hi = large_gate;
  return all;
}

Work work(const Params&, std::span<const TensorSpec> tensors) {
  Work work = streaming_work(tensors);
  work.operations = operations * numel(tensors[2].shape);
  return work;
}

/// exp(-g) is off by 3 + 2|g| ULP, the sum by half of one, the quotient by 2.5 and the product by half of
/// one: 6.5 + 2|g| ULP, which is less than 7 (1 + |g| / 2) ULP with all that is of second order.
constexpr double unit_error = 7 * float32_ulp;

}  // namespace

Op silu_mul() {
  return {
      .name = "silu_mul",
      .summary = "g / (1 + exp(-g)) * u: the gate of a SwiGLU layer",
      .params = float_operand_params("g, u and y"),
      .tensors = tensors,
      .reference = references::silu_mul,
      .work = work,
      .impls = {elementwise_floats("silu_mul", unit_error)},
  };
}

}  // namespace assay::ops
