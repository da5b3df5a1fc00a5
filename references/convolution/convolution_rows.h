#pragma once

#include "harness/tensor/tensor.h"
#include "references/convolution/convolution.h"
#include "references/linear/linear_integer.h"
#include "references/linear/linear_rows.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

// A convolution as products of matrices, one per group: rows of x, one per pixel of y, by rows of w, one per
// output channel. Both run over kh, kw and the channels of the group, in this order: depth() values.

namespace assay::references {

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

}  // namespace assay::references
