#pragma once

#include "harness/op/expected.h"
#include "harness/op/params.h"
#include "harness/tensor/tensor.h"
#include "references/linear/linear.h"
#include "references/linear/products.h"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace assay::references {

/// A linear op on integers in which groups of w have one scale each, and rows of x do, too. In float64:
///   int_g = sum over k of group g of x * w   (minus their zero points; exact)
///   y = act((sum over g of w_scale[g, n] * int_g) * x_scale[m] + bias[n])
/// Sums of integers are exact, so an impl's error grows with the integers that it scales, groups or parts of
/// them, and not with |x||w|. Impls scale sums of 8 or more neighbours along K, which groups do not split:
/// the magnitude is (sum over blocks of 8 of w_scale[g, n] * |int_block|) * x_scale[m] + |bias[n]|.
struct GroupedLinear {
  const Linear& linear;
  IntegerRows x, w;
  std::span<const float> x_scale;  ///< [rows of x]
  std::span<const float> w_scale;  ///< [groups, N]
  std::span<const float> bias;     ///< [N] or empty
};

/// One element of y, before relu.
struct GroupedSum {
  double value = 0;
  double magnitude = 0;
  /// Whether float32 operations in the order above, blocks in any order, round nothing.
  bool is_exact = false;
};

/// Calls store(index in y, element) for each element, from several threads.
void for_each_grouped_sum(const GroupedLinear& grouped,
                          const std::function<void(std::int64_t, const GroupedSum&)>& store);

/// The output y of dtype `linear.real`, bounded.
std::vector<Expected> grouped_real_output(const GroupedLinear& grouped);

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

/// The integers and scales of the op, before its output: int_g = sum over k of group g of (x -
/// x_zero_point[m]) * (nibble - 8 - w_zero_point[g, n]), where the nibble of an even k is the high one of
/// byte w[n, k / 2]. `inputs`: x (i8), x_scale (f32 [..., M]), x_zero_point (i32 [..., M]), w (u8 [N, K /
/// 2]), w_scale (f32 [K / group_size, N]), w_zero_point (i32 [K / group_size, N], -8 to 7) and, if the
/// parameter says so, bias (f32).
GroupedLinear qta8a_qga4w(const Linear& linear, std::span<const HostTensor> inputs);

/// y = act((sum over g of w_scale[g, n] * int_g) * x_scale[m] + bias[n]), f32 or f16, bounded: values are
/// float64, and the magnitude is GroupedLinear's. `inputs`: as for qta8a_qga4w().
std::vector<Expected> linear_qta8a_qga4w(const Params& params, std::span<const HostTensor> inputs);

/// f = act((sum over g of w_scale[g, n] * int_g) * x_scale[m] + bias[n]) with int_g as in qta8a_qga4w(), y =
/// clamp(roundEven(f * fl32(1 / y.scale)) + y.zero_point, -128, 127), in float64. Banded: the magnitude is
/// GroupedLinear's in steps of y, and 0 where float32 operations in this order, with the groups in any order,
/// round nothing. A NaN (of the bias) gives the zero point. `inputs`: as for qta8a_qga4w().
std::vector<Expected> linear_qta8a_qga4w_qta8o(const Params& params, std::span<const HostTensor> inputs);

}  // namespace assay::references
