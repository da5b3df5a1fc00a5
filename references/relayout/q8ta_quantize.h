#pragma once

#include "harness/op/expected.h"
#include "harness/op/params.h"
#include "harness/tensor/tensor.h"

#include <span>
#include <vector>

namespace assay::references {

/// y = clamp(roundEven(x * fl32(1 / y.scale)) + y.zero_point, -128, 127), each step in float32; a NaN gives
/// the zero point. x is f32 or f16, y is i8 of the same shape. Exact. `inputs`: x.
std::vector<Expected> q8ta_quantize(const Params& params, std::span<const HostTensor> inputs);

}  // namespace assay::references
