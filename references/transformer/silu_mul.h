#pragma once

#include "harness/op/expected.h"
#include "harness/op/params.h"
#include "harness/tensor/tensor.h"

#include <span>
#include <vector>

namespace assay::references {

/// y = g / (1 + exp(-g)) * u, element by element, in float64. Inputs: g, u; both and y have the parameters
/// `shape` and `dtype`.
///
/// g = -infinity gives 0 * u or NaN. The magnitude is |y| (1 + |g| / 2): a float32 exp() is off by a multiple
/// of |g|. The bound has |g u| 2^-126 besides, because exp() overflows where g is below -88.7. Where a factor
/// may be flushed to zero, y may be what the other factor makes of a zero.
std::vector<Expected> silu_mul(const Params& params, std::span<const HostTensor> inputs);

}  // namespace assay::references
