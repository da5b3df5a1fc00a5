#pragma once

#include "harness/op/op.h"
#include "ops/common/unit_error.h"

namespace assay::ops {

// The softmax of rows, for ops that consist of one: of the first tensor of a context into its second.

Program softmax_program(const BuildContext& context);

/// Of the softmax's magnitude: y_i (1 + |x_i - m| + sum_j y_j |x_j - m|).
double softmax_unit_error(const BuildContext& context);

/// Its two parts: of exp(), whose weights the magnitude has, and of the additions, relative to y alone.
inline constexpr double softmax_term_error = 10 * float32_ulp;
double softmax_sum_error(const BuildContext& context);

}  // namespace assay::ops
