#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace assay {

/// Dimensions, slowest first (NCHW for rank 4). Rank 1 to 4 on a device.
using Shape = std::vector<std::int64_t>;

/// Number of elements. Throws Error when a dim is < 1 or the product exceeds 2^40.
std::int64_t numel(const Shape& shape);

/// The four dims {N, C, H, W}; lower ranks are unsqueezed on the left. Throws Error for rank > 4.
struct Dims {
  std::int64_t n = 1, c = 1, h = 1, w = 1;
  friend bool operator==(const Dims&, const Dims&) = default;
};
Dims nchw(const Shape& shape);

/// "1x96x16x9"
std::string to_string(const Shape& shape);

/// Coordinates of a row-major index, as many as the shape has dims.
std::vector<std::int64_t> coordinates(const Shape& shape, std::int64_t index);

constexpr std::int64_t div_up(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}
constexpr std::int64_t round_up(std::int64_t a, std::int64_t b) {
  return div_up(a, b) * b;
}

}  // namespace assay
