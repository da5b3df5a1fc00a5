#pragma once

#include "harness/op/expected.h"
#include "harness/op/params.h"
#include "harness/tensor/tensor.h"
#include "references/convolution/convolution.h"
#include "references/linear/linear_integer.h"
#include "references/linear/products.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace assay::references {

// A convolution as products of matrices, one per group: rows of x, one per pixel of y, by rows of w, one per
// output channel. Both run over kh, kw and the channels of the group, in this order: Convolution::depth()
// values.

/// x in the order N, H, W, C, in which the channels that a tap meets are neighbours, as rows are read.
std::vector<std::int16_t> channels_last(const Convolution& conv, std::span<const std::int16_t> x);
/// x in the order N, H, W, C where it is f32 or f16.
std::vector<float> channels_last(const Convolution& conv, const HostTensor& x);

/// The rows of w (i8) of all output channels.
IntegerRows weight_rows(const Convolution& conv, const HostTensor& w);

/// The values of x that pixels of y read. A pixel is one of all N images: (n * height + i) * width + j.
class Patches {
 public:
  explicit Patches(const Convolution& conv);

  /// Writes the values [first, last) of the row of a pixel: values of x, channels last, and 0 where a tap
  /// lies in the padding. Several threads may call it.
  template <class From, class To>
  void read(const std::vector<From>& x, std::int64_t group, std::int64_t pixel, std::int64_t first,
            std::int64_t last, To* to) const;

  /// The index in y, [N, OC, height, width], of a pixel's channel.
  std::int64_t index_in_y(std::int64_t pixel, std::int64_t channel) const;

 private:
  /// Where an image of x begins, and which rows and columns of it the taps meet.
  struct View {
    std::int64_t image;
    std::array<const std::int64_t*, 2> met;
  };
  View view_of(std::int64_t pixel) const;
  /// The first channel of the pixel of x that a tap meets, or -1.
  std::int64_t place_of(const View& view, std::int64_t tap) const;

  Convolution conv_;
  HeightWidth size_of_y_;
  std::array<std::vector<std::int64_t>, 2>
      met_;  ///< per axis [index of y, tap]: index of x, or -1 in the padding
  std::vector<std::array<std::uint32_t, 2>> taps_;
};

/// Calls store(index in y, output channel, sum) for every element of y, from several threads: the sums of x *
/// w over kh, kw and the channels of a group. `x`: its values minus their zero point, in the order N, C, H,
/// W. `w`: weight_rows(). The matrix that x is expanded to is made in parts.
void for_each_sum(const Convolution& conv, const IntegerRows& x, const IntegerRows& w, const StoreSum& store);

/// y = act((sum over kh, kw and the channels of the group of x * w) * w_scale[n] + bias[n]), n being the
/// output channel; the padding is zero. Bounded: values are float64, and the magnitude is (sum of |x||w|) *
/// w_scale[n] + |bias[n]|, for an impl whose error is at most a unit error times it: gamma(r) where at most r
/// roundings lie between any product, or the bias, and y. hardswish, whose slope is at most 1.5 and which
/// rounds four times, doubles the magnitude. A float16 store adds 1 ulp. A NaN passes activations.
/// `inputs`: x (f32 or f16 [N, C, H, W]), w (i8 [OC, C / groups, kh, kw]), w_scale (f32 [OC]) and, if the
/// parameter says so, bias (f32 [OC]); y is [N, OC, height, width]. Throws ParameterError like
/// convolution_params().
std::vector<Expected> conv2d_q8csw(const Params& params, std::span<const HostTensor> inputs);

/// x_q = clamp(roundEven(x * fl32(1 / x.scale)) + x.zero_point, -128, 127), in float32 (NaN: the zero point),
/// acc = sum over kh, kw and the channels of the group of (x_q - x.zero_point) * w, exact in int32, where the
/// padding is real zero and adds nothing, and y = act(float(acc) * fl32(x.scale * w_scale[n]) + bias[n]), n
/// being the output channel, each step a float32 operation in that order; without a bias nothing is added.
/// Activations are those of references/common/activation.h; they pass a NaN (of the bias). float32 is exact;
/// float16 is the float32 value rounded to nearest even, bounded by 1 ulp. `inputs`: x (f32 or f16 [N, C, H,
/// W]), w (i8 [OC, C / groups, kh, kw]), w_scale (f32 [OC]) and, if the parameter says so, bias (f32 [OC]); y
/// is [N, OC, height, width]. Throws ParameterError like convolution_params().
std::vector<Expected> conv2d_q8ta_q8csw(const Params& params, std::span<const HostTensor> inputs);

/// acc = sum over kh, kw and the channels of the group of (x - x.zero_point) * w, exact in int32, where the
/// padding is real zero and adds nothing; indices are as in Convolution. The rest is as in q8ta_linear, by
/// the parameter `epilogue`, n being the output channel:
///   float32: f = act(float(acc) * fl32(x.scale * w_scale[n]) + bias[n]),
///            y = clamp(roundEven(f * fl32(1 / y.scale)) + y.zero_point, -128, 127), each step a float32
///            operation in that order; without a bias nothing is added. NaN (of the bias) gives the zero
///            point.
///   fixed_point: requantized() of fixed_point_channels().
/// Exact. Pointwise, depthwise and transposed convolutions use the same function; an op with the parameter
/// `output_padding` is transposed. `inputs`: x (i8 [N, C, H, W]), w (i8 [OC, C / groups, kh, kw]; transposed
/// [C, OC / groups, kh, kw]), w_scale (f32 [OC]) and, if the parameter says so, bias (f32 [OC]); y is i8 [N,
/// OC, height, width]. Throws ParameterError like convolution_params(), and where scales or biases do not fit
/// the fixed point.
std::vector<Expected> q8ta_conv2d(const Params& params, std::span<const HostTensor> inputs);

}  // namespace assay::references
