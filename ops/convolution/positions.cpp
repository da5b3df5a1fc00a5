#include "ops/convolution/positions.h"

#include <algorithm>
#include <numeric>

namespace assay::ops {
namespace {

/// a / b, rounded down.
std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  return a / b - (a % b < 0 ? 1 : 0);
}

/// The places of x that a tap meets, from `first` to before `last`. They are counted in steps of the stride,
/// transposed one by one, and lie the higher the higher `tap` is: transposed, taps are counted from the last.
struct PlacesMet {
  std::int64_t first = 0, last = 0;
};

PlacesMet places_met(const ConvolutionAxis& axis, std::int64_t tap) {
  const std::int64_t offset = (axis.transposed ? axis.kernel - 1 - tap : tap) * axis.dilation - axis.padding;
  const std::int64_t from = axis.transposed ? axis.x : axis.y, to = axis.transposed ? axis.y : axis.x;
  const std::int64_t first = std::max<std::int64_t>(0, -floor_div(offset, axis.stride));
  const std::int64_t last = std::min(from, floor_div(to - 1 - offset, axis.stride) + 1);
  const std::int64_t moved = axis.transposed ? 0 : floor_div(offset, axis.stride);
  return {first + moved, last + moved};
}

}  // namespace

/// Taps whose places are whole strides apart meet the same ones, or neighbours; others never do.
std::int64_t positions_met(const ConvolutionAxis& axis) {
  const std::int64_t apart = axis.transposed ? 1 : axis.stride / std::gcd(axis.stride, axis.dilation);
  std::int64_t count = 0;
  for (std::int64_t least = 0; least < std::min(apart, axis.kernel); ++least) {
    std::int64_t end = 0;
    for (std::int64_t tap = least; tap < axis.kernel; tap += apart) {
      const PlacesMet met = places_met(axis, tap);
      if (met.first >= met.last) continue;
      count += std::max<std::int64_t>(0, met.last - std::max(met.first, end));
      end = std::max(end, met.last);
    }
  }
  return count;
}

std::int64_t positions_passed_over(std::span<const ConvolutionAxis> axes) {
  std::int64_t all = 1, met = 1;
  for (const ConvolutionAxis& axis : axes) {
    all *= axis.x;
    met *= positions_met(axis);
  }
  return all - met;
}

}  // namespace assay::ops
