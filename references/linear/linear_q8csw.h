#pragma once

#include "harness/op/expected.h"
#include "harness/op/params.h"
#include "harness/tensor/tensor.h"

#include <span>
#include <vector>

namespace assay::references {

/// y = act((sum over k of x * w) * w_scale[n] + bias[n]). Bounded: values are float64, and the magnitude is
/// (sum over k of |x||w|) * w_scale[n] + |bias[n]|, for an impl whose error is at most a unit error times it:
/// gamma(r) where at most r roundings lie between any product, or the bias, and y. A float16 store adds 1
/// ulp. A NaN passes relu. `inputs`: x (f32 or f16), w (i8), w_scale (f32) and, if the parameter says so,
/// bias (f32).
std::vector<Expected> linear_q8csw(const Params& params, std::span<const HostTensor> inputs);

}  // namespace assay::references
