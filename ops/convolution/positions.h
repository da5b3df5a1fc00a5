#pragma once

#include <cstdint>
#include <span>

namespace assay::ops {

/// One axis of a convolution: y[i] sums x[i * stride - padding + tap * dilation] over the taps. Transposed:
/// x[i] is added to y at that place.
struct ConvolutionAxis {
  std::int64_t x = 1, y = 1;  ///< lengths
  std::int64_t kernel = 1, stride = 1, padding = 0, dilation = 1;
  bool transposed = false;
};

/// The number of places of x that some tap meets: a stride may pass over the others, and y may end before
/// them.
std::int64_t positions_met(const ConvolutionAxis& axis);

/// The number of places of a plane of x, which has these axes, that no tap meets. They are not read.
std::int64_t positions_passed_over(std::span<const ConvolutionAxis> axes);

}  // namespace assay::ops
