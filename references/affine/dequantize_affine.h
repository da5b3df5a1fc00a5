#pragma once

#include "harness/op/expected.h"
#include "harness/op/params.h"
#include "harness/tensor/tensor.h"

#include <span>
#include <vector>

namespace assay::references {

/// y = float(q - zero_point) * scale with the subtraction in int32, one scale and zero point a block. Without
/// a zero point y = q * scale; with one in the float domain y = (q - mid) * scale + zero_point. float32
/// is exact; float16 is the float32 value rounded to nearest even, bounded by 1 ulp, since devices
/// store with either rounding. `inputs`: q, scale and, unless the domain is none, zero_point.
std::vector<Expected> dequantize_affine(const Params& params, std::span<const HostTensor> inputs);

}  // namespace assay::references
