#pragma once

#include "harness/op/expected.h"
#include "harness/op/params.h"
#include "harness/tensor/tensor.h"

#include <span>
#include <vector>

namespace assay::references {

/// y = act((sum over kh, kw and the channels of the group of x * w) * w_scale[n] + bias[n]), n being the
/// output channel; the padding is zero. Bounded: values are float64, and the magnitude is (sum of |x||w|) *
/// w_scale[n] + |bias[n]|, for an impl whose error is at most a unit error times it: gamma(r) where at most r
/// roundings lie between any product, or the bias, and y. A float16 store adds 1 ulp. A NaN passes relu.
/// `inputs`: x (f32 or f16 [N, C, H, W]), w (i8 [OC, C / groups, kh, kw]), w_scale (f32 [OC]) and, if the
/// parameter says so, bias (f32 [OC]); y is [N, OC, height, width]. Throws ParameterError like
/// convolution_params().
std::vector<Expected> conv2d_q8csw(const Params& params, std::span<const HostTensor> inputs);

}  // namespace assay::references
