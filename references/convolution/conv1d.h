#pragma once

#include "harness/op/expected.h"
#include "harness/op/params.h"
#include "harness/tensor/tensor.h"

#include <cstdint>
#include <span>
#include <vector>

namespace assay::references {

/// The checked parameters of a convolution along one axis: x is [N, C, L], y [N, outputs, length_of_y()].
///   y[n, o, i] = sum over c, a of x[n, c, i * stride - padding + a * dilation] * w[o, c, a] + bias[o]
/// Pointwise: the kernel has one tap, and c runs over all channels. Depthwise: c is o. Places outside of x
/// add nothing, not even where w is an infinity or NaN.
struct Conv1d {
  std::int64_t n = 1, c = 1, l = 1;
  std::int64_t outputs = 1;
  std::int64_t kernel = 1, stride = 1, dilation = 1;
  std::int64_t padding = 0, padding_end = 0;  ///< zeros to the left and to the right of x
  bool depthwise = false;
  bool bias = false;  ///< f32 [outputs]
  DType dtype = DType::F32;

  std::int64_t reach() const { return dilation * (kernel - 1); }  ///< from the first tap to the last
  std::int64_t length_of_y() const;
  Shape x_shape() const { return {n, c, l}; }
  Shape w_shape() const { return {outputs, depthwise ? 1 : c, kernel}; }
  Shape y_shape() const { return {n, outputs, length_of_y()}; }
  /// The indices of y, from `first` to before `last`, at which a tap meets a value of x.
  struct Range {
    std::int64_t first = 0, last = 0;
  };
  Range met_by(std::int64_t tap) const;
};

/// Reads N, C, L, kernel, stride, padding ([p] or [left, right]), dilation, bias and dtype, and OC where the
/// op has it; without it the convolution is depthwise. Throws ParameterError where y would be empty.
Conv1d conv1d_params(const Params& params);

/// y in float64; the magnitude is the sum of |x||w|, plus |bias|. A float16 store adds 1 ulp. `inputs`: x and
/// w of the parameter `dtype`, and bias (f32) if the parameter says so.
std::vector<Expected> conv1d(const Params& params, std::span<const HostTensor> inputs);

}  // namespace assay::references
