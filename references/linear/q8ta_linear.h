#pragma once

#include "harness/op/expected.h"
#include "harness/op/params.h"
#include "harness/tensor/tensor.h"

#include <span>
#include <vector>

namespace assay::references {

/// acc = sum over k of (x - x.zero_point) * w, exact in int32; then by the parameter `epilogue`:
///   float32: f = act(float(acc) * fl32(x.scale * w_scale[n]) + bias[n]),
///            y = clamp(roundEven(f * fl32(1 / y.scale)) + y.zero_point, -128, 127), each step a float32
///            operation in that order; without a bias nothing is added. NaN (of the bias) gives the zero
///            point.
///   fixed_point: requantized() of fixed_point_channels().
/// Exact. `inputs`: x (i8), w (i8), w_scale (f32) and, if the parameter says so, bias (f32). Throws
/// ParameterError where scales or biases do not fit the fixed point.
std::vector<Expected> q8ta_linear(const Params& params, std::span<const HostTensor> inputs);

}  // namespace assay::references
