#pragma once

#include "harness/op/expected.h"
#include "harness/op/params.h"
#include "harness/tensor/tensor.h"
#include "references/linear/linear_grouped.h"

#include <span>
#include <vector>

namespace assay::references {

/// The integers and scales of the op, before its output: int_g = sum over k of group g of (x -
/// x_zero_point[m]) * (nibble - 8 - w_zero_point[g, n]), where the nibble of an even k is the high one of
/// byte w[n, k / 2]. `inputs`: x (i8), x_scale (f32 [..., M]), x_zero_point (i32 [..., M]), w (u8 [N, K /
/// 2]), w_scale (f32 [K / group_size, N]), w_zero_point (i32 [K / group_size, N], -8 to 7) and, if the
/// parameter says so, bias (f32).
GroupedLinear qta8a_qga4w(const Linear& linear, std::span<const HostTensor> inputs);

/// y = act((sum over g of w_scale[g, n] * int_g) * x_scale[m] + bias[n]), f32 or f16, bounded: values are
/// float64, and the magnitude is GroupedLinear's. `inputs`: as for qta8a_qga4w().
std::vector<Expected> linear_qta8a_qga4w(const Params& params, std::span<const HostTensor> inputs);

}  // namespace assay::references
