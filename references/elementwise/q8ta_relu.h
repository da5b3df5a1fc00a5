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

}  // namespace assay::references
