#pragma once

#include "harness/op/expected.h"
#include "harness/op/params.h"
#include "harness/tensor/tensor.h"

#include <span>
#include <vector>

namespace assay::references {

/// x_q = clamp(roundEven(x * fl32(1 / x.scale)) + x.zero_point, -128, 127), in float32 (NaN: the zero point),
/// acc = sum over kh, kw and the channels of the group of (x_q - x.zero_point) * w, exact in int32, where the
/// padding is real zero and adds nothing, and y = act(float(acc) * fl32(x.scale * w_scale[n]) + bias[n]), n
/// being the output channel, each step a float32 operation in that order; without a bias nothing is added.
/// relu passes a NaN (of the bias) and makes no -0. float32 is exact; float16 is the float32 value rounded to
/// nearest even, bounded by 1 ulp. `inputs`: x (f32 or f16 [N, C, H, W]), w (i8 [OC, C / groups, kh, kw]),
/// w_scale (f32 [OC]) and, if the parameter says so, bias (f32 [OC]); y is [N, OC, height, width]. Throws
/// ParameterError like convolution_params().
std::vector<Expected> conv2d_q8ta_q8csw(const Params& params, std::span<const HostTensor> inputs);

}  // namespace assay::references
