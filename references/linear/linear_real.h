#pragma once

#include "harness/op/expected.h"
#include "harness/op/params.h"
#include "harness/tensor/tensor.h"
#include "references/common/real_output.h"
#include "references/linear/linear.h"
#include "references/linear/products.h"

#include <cstdint>
#include <span>
#include <vector>

namespace assay::references {

/// The float64 epilogue of a sum of x * w and of its magnitude, the sum of |x||w|. y becomes act(sum *
/// scale[n] + bias[n]) with the magnitude * |scale[n]| + |bias[n]|, twice that with hardswish. Without a bias
/// nothing is added.
struct RealEpilogue {
  const Linear& linear;
  std::span<const double> scale;
  std::span<const float> bias;

  void set(BoundedOutput& y, std::int64_t index, std::int64_t n, double sum, double magnitude) const;
};

/// y = act(sum over k of x * w * scale[n] + bias[n]) in float64, bounded; the magnitude is (sum over k of
/// |x||w|) * |scale[n]| + |bias[n]|. Without a bias nothing is added. x is f32 or f16.
std::vector<Expected> real_linear(const Linear& linear, const HostTensor& x, const RealRows& w,
                                  std::span<const double> scale, std::span<const float> bias);

/// y = act((sum over k of x * w) * w_scale[n] + bias[n]). Bounded: values are float64, and the magnitude is
/// (sum over k of |x||w|) * w_scale[n] + |bias[n]|, for an impl whose error is at most a unit error times it:
/// gamma(r) where at most r roundings lie between any product, or the bias, and y. A float16 store adds 1
/// ulp. A NaN passes relu. `inputs`: x (f32 or f16), w (i8), w_scale (f32) and, if the parameter says so,
/// bias (f32).
std::vector<Expected> linear_q8csw(const Params& params, std::span<const HostTensor> inputs);

/// y = act(sum over k of x * (nibble - 8) * w_scale[k / group_size, n] + bias[n]); the nibble of an even k is
/// the low one of byte w[n, k / 2]. Bounded: values are float64, and the magnitude is sum over k of
/// |x||nibble - 8| * w_scale + |bias[n]|, for an impl whose error is at most a unit error times it, as
/// linear_q8csw() says. `inputs`: x (f32 or f16), w (u8 [N, K / 2]), w_scale (f32 [K / group_size, N]) and,
/// if the parameter says so, bias (f32).
std::vector<Expected> linear_q4gsw(const Params& params, std::span<const HostTensor> inputs);

}  // namespace assay::references
