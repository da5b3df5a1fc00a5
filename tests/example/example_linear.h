#pragma once

#include "harness/op/op.h"

namespace assay::example {

/// y[m, n] = scale[n] * sum_k x[m, k] * w[n, k]: x, scale and y are f32, w is i8; w and scale are constant.
/// Impls `in_order`, `by_fours` (partial sums), `staged` (x in shared memory, `tile_k` values at a time) and
/// `auto`.
Op linear();

Params linear_params(std::int64_t m, std::int64_t k, std::int64_t n);

}  // namespace assay::example
