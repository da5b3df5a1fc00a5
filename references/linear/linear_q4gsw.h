#pragma once

#include "harness/op/expected.h"
#include "harness/op/params.h"
#include "harness/tensor/tensor.h"

#include <span>
#include <vector>

namespace assay::references {

/// y = act(sum over k of x * (nibble - 8) * w_scale[k / group_size, n] + bias[n]); the nibble of an even k is
/// the low one of byte w[n, k / 2]. Bounded: values are float64, and the magnitude is sum over k of
/// |x||nibble - 8| * w_scale + |bias[n]|, for an impl whose error is at most a unit error times it, as
/// linear_q8csw() says. `inputs`: x (f32 or f16), w (u8 [N, K / 2]), w_scale (f32 [K / group_size, N]) and,
/// if the parameter says so, bias (f32).
std::vector<Expected> linear_q4gsw(const Params& params, std::span<const HostTensor> inputs);

}  // namespace assay::references
