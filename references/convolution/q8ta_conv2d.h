#pragma once

#include "harness/op/expected.h"
#include "harness/op/params.h"
#include "harness/tensor/tensor.h"

#include <span>
#include <vector>

namespace assay::references {

/// acc = sum over kh, kw and the channels of the group of (x - x.zero_point) * w, exact in int32, where the
/// padding is real zero and adds nothing; indices are as in Convolution. The rest is as in q8ta_linear, by
/// the parameter `epilogue`, n being the output channel:
///   float32: f = act(float(acc) * fl32(x.scale * w_scale[n]) + bias[n]),
///            y = clamp(roundEven(f * fl32(1 / y.scale)) + y.zero_point, -128, 127), each step a float32
///            operation in that order; without a bias nothing is added. NaN (of the bias) gives the zero
///            point.
///   fixed_point: requantized() of fixed_point_channels().
/// Exact. Pointwise, depthwise and transposed convolutions use the same function; an op with the parameter
/// `output_padding` is transposed. `inputs`: x (i8 [N, C, H, W]), w (i8 [OC, C / groups, kh, kw]; transposed
/// [C, OC / groups, kh, kw]), w_scale (f32 [OC]) and, if the parameter says so, bias (f32 [OC]); y is i8 [N,
/// OC, height, width]. Throws ParameterError like convolution_params(), and where scales or biases do not fit
/// the fixed point.
std::vector<Expected> q8ta_conv2d(const Params& params, std::span<const HostTensor> inputs);

}  // namespace assay::references
