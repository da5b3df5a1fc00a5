#pragma once

#include "harness/op/params.h"
#include "harness/tensor/dtype.h"
#include "harness/tensor/tensor.h"
#include "references/common/activation.h"
#include "references/linear/linear.h"

#include <array>
#include <cstdint>
#include <optional>

namespace assay::references {

/// A pair of numbers, one along the height and one along the width.
using HeightWidth = std::array<std::int64_t, 2>;

/// The checked parameters of a 2D convolution: x is [N, C, H, W], y [N, OC, height, width] of size_of_y().
///   y[n, o, i, j] = act(sum over c, a, b of x[n, c', p, q] * w[o, c, a, b] + bias[o]),
///   p = i * stride - padding + a * dilation, and q likewise from j and b along the width,
/// with c over the C / groups channels of o's group. Values outside of x are real zeros, that is the zero
/// point of quantized ones. Transposed: y[n, o, i, j] sums x[n, c', p, q] * w[c', o', a, b] over all p, q, a,
/// b with i = p * stride - padding + a * dilation, and j likewise from q and b.
struct Convolution {
  std::int64_t n = 1, c = 1, h = 1, w = 1;
  std::int64_t oc = 1;
  HeightWidth kernel{1, 1}, stride{1, 1}, dilation{1, 1}, output_padding{0, 0};
  HeightWidth padding{0, 0};      ///< above x and to its left
  HeightWidth padding_end{0, 0};  ///< below x and to its right: only y's size depends on it
  std::int64_t groups = 1;
  bool transposed = false;
  bool bias = false;                         ///< f32 [OC], added after the scales
  Activation activation = Activation::None;  ///< after the bias
  DType real = DType::F32;                   ///< dtype of x and y where these are real

  std::int64_t channels_of_group() const { return c / groups; }
  std::int64_t outputs_of_group() const { return oc / groups; }
  std::int64_t taps() const { return kernel[0] * kernel[1]; }
  std::int64_t depth() const { return taps() * channels_of_group(); }  ///< products per output
  Shape x_shape() const { return {n, c, h, w}; }
  /// The shape of w: [OC, C / groups, kh, kw]; transposed [C, OC / groups, kh, kw].
  Shape w_shape() const;
  /// The rows (axis 0) or columns (1) of padding on both sides together.
  std::int64_t both_paddings(std::size_t axis) const { return padding[axis] + padding_end[axis]; }
  /// The height and width of y: floor((H + both paddings - d(k - 1) - 1) / s) + 1; transposed (H - 1)s - both
  /// paddings + d(k - 1) + output_padding + 1.
  HeightWidth size_of_y() const;
  Shape y_shape() const { return {n, oc, size_of_y()[0], size_of_y()[1]}; }
  /// The index of x along an axis (0: height, 1: width) that a tap at an index of y meets. Nothing in the
  /// padding, nor, in a transposed convolution, where no value of x reaches y.
  std::optional<std::int64_t> met(std::size_t axis, std::int64_t index, std::int64_t tap) const;
  std::int64_t pixels_of_y() const { return n * size_of_y()[0] * size_of_y()[1]; }

  /// One group of the convolution as a product of matrices: M pixels of y, K = depth(), N =
  /// outputs_of_group().
  Linear linear_of_group() const;
};

/// Reads N, C, H, W, OC, kernel, stride, padding, dilation, groups, bias and activation; output_padding (of
/// transposed ones) and dtype where the op has them. `padding` is [h, w], the same on both sides, or [top,
/// left, bottom, right]. Throws ParameterError where it is neither, where groups does not divide C and OC,
/// where y would be empty, where depth() exceeds `largest_depth`, and where output_padding is below neither
/// the stride nor the dilation.
Convolution convolution_params(const Params& params, std::int64_t largest_depth);

/// Reads parameters that have been checked already.
Convolution checked_convolution(const Params& params);

}  // namespace assay::references
