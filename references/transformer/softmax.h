#pragma once

#include "harness/op/expected.h"
#include "harness/op/params.h"
#include "harness/tensor/tensor.h"

#include <span>
#include <vector>

namespace assay::references {

/// y_i = exp(x_i - m) / sum_j exp(x_j - m) along the last dim, with m the largest x_j, in float64. Input: x;
/// x and y have the parameters `shape` and `dtype`.
///
/// x_i = -infinity gives 0, a row of them zeros. A NaN or +infinity gives NaN in its whole row. The magnitude
/// is y_i (1 + |x_i - m| + sum_j y_j |x_j - m|): float32 differences and exp() are off by multiples of |x_i -
/// m|.
std::vector<Expected> softmax(const Params& params, std::span<const HostTensor> inputs);

}  // namespace assay::references
