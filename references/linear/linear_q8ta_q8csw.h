#pragma once

#include "harness/op/expected.h"
#include "harness/op/params.h"
#include "harness/tensor/tensor.h"

#include <span>
#include <vector>

namespace assay::references {

/// x_q = clamp(roundEven(x * fl32(1 / x.scale)) + x.zero_point, -128, 127), in float32 (NaN: the zero point),
/// acc = sum over k of (x_q - x.zero_point) * w, exact in int32, and y = act(float(acc) * fl32(x.scale *
/// w_scale[n]) + bias[n]), each step a float32 operation in that order; without a bias nothing is added. relu
/// passes a NaN (of the bias) and makes no -0. float32 is exact; float16 is the float32 value rounded to
/// nearest even, bounded by 1 ulp. `inputs`: x (f32 or f16), w (i8), w_scale (f32) and, if the parameter says
/// so, bias (f32).
std::vector<Expected> linear_q8ta_q8csw(const Params& params, std::span<const HostTensor> inputs);

}  // namespace assay::references
