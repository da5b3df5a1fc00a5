#pragma once

#include "harness/op/expected.h"
#include "harness/op/params.h"
#include "harness/tensor/tensor.h"

#include <span>
#include <vector>

namespace assay::references {

/// Every row of x is quantized with its own scale and zero point, as quantized_rows() says, so that y is
/// finite whatever x is. int_g = sum over k of group g of (x_q - x_zero_point[m]) * (nibble - 8), where the
/// nibble of an even k is the low one of byte w[n, k / 2], and
/// y = act((sum over g of w_scale[g, n] * int_g) * x_scale[m] + bias[n]), f32 or f16, bounded: values are
/// float64, and the magnitude is GroupedLinear's. By the parameter `activations`:
///   given: `inputs` are x (f32 or f16), x_scale (f32 [..., M]), x_zero_point (i32 [..., M], -128 to 127),
///          w (u8 [N, K / 2]), w_scale (f32 [K / group_size, N]) and, if the parameter says so, bias (f32).
///   dynamic: without x_scale and x_zero_point, which are choose_qparams() of QParamsRule::PerRow, over
///            -128 to 127, for each row; values that are not finite are skipped.
std::vector<Expected> linear_dq8ca_q4gsw(const Params& params, std::span<const HostTensor> inputs);

}  // namespace assay::references
