#pragma once

#include "harness/op/expected.h"
#include "harness/op/params.h"
#include "harness/tensor/tensor.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace assay::references {

/// y = clamp(roundEven(max((q - x.zero_point) * x.scale, 0) * fl32(1 / y.scale)) + y.zero_point), the
/// difference in int32 and each other step in float32, in that order. Exact. `inputs`: x.
std::vector<Expected> q8ta_relu(const Params& params, std::span<const HostTensor> inputs);

/// The answer for every q, by its bits as an unsigned number. It grows with q.
std::array<std::int8_t, 256> rectified_bytes(const QParams& x, const QParams& y);

/// The shape to which both broadcast: aligned at the right, dims equal or one of them 1. Throws
/// ParameterError on "b_shape" where they do not fit.
Shape broadcast(const Shape& shape, const Shape& b_shape);

/// y = clamp(roundEven(act((a - a.zero_point) * a.scale + alpha * ((b - b.zero_point) * b.scale)) * inv_y) +
/// y.zero_point), with a and b broadcast to y's shape. inv_y = fl32(1 / y.scale), and alpha is the parameter
/// as a float32. The differences are taken in int32; then each step is a float32 operation, in this order:
///   ra = (a - a.zero_point) * a.scale
///   rb = (b - b.zero_point) * b.scale
///   t = alpha * rb
///   s = ra + t
///   f = act(s)                 (references/common/activation.h)
///   v = f * inv_y
///   clamp(roundEven(v) + y.zero_point, -128, 127)
/// Exact. `inputs`: a, b.
std::vector<Expected> q8ta_add(const Params& params, std::span<const HostTensor> inputs);

}  // namespace assay::references
