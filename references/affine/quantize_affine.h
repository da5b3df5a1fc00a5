#pragma once

#include "harness/op/expected.h"
#include "harness/op/params.h"
#include "harness/tensor/tensor.h"

#include <span>
#include <vector>

namespace assay::references {

/// q = clamp(roundEven(x * fl32(1 / scale)) + zero_point, quant_min, quant_max), each step in float32, with
/// one scale and zero point per block; exact. Without a zero point nothing is added; with one in the float
/// domain q = clamp(roundEven((x - (zero_point - scale * mid)) / scale)). NaN gives the zero point (float
/// domain: mid), infinities saturate. `inputs`: x, scale and, unless the domain is none, zero_point.
std::vector<Expected> quantize_affine(const Params& params, std::span<const HostTensor> inputs);

}  // namespace assay::references
