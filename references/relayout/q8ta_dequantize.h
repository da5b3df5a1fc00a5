#pragma once

#include "harness/op/expected.h"
#include "harness/op/params.h"
#include "harness/tensor/tensor.h"

#include <span>
#include <vector>

namespace assay::references {

/// y = x.scale * float(x - x.zero_point), the difference in int32. x is i8, y is of the parameter `dtype`:
/// f32 (exact) or f16 (bounded: 1 ulp). `inputs`: x.
std::vector<Expected> q8ta_dequantize(const Params& params, std::span<const HostTensor> inputs);

}  // namespace assay::references
