#pragma once

#include "harness/op/op.h"

namespace assay::faults {

/// y[m] = clamp(roundEven(sum_g s[g] * sum_k x[m, g, k]), -128, 127) with eight k a group: banded, as the sum
/// over groups is one of float32. Impls `up`, `down` (the order of groups) and `coarse` (which has a larger
/// error) are right; `half_away` and `biased` are not; `boastful` is `coarse` and claims to make no error,
/// `silent` does not say which.
Op grouped_sum();

Params grouped_sum_params(std::int64_t rows, std::int64_t groups);

}  // namespace assay::faults
