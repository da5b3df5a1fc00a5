#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace assay {

/// Dimensions, slowest first (NCHW for rank 4). Rank 1 to 4 on a device.
using Shape = std::vector<std::int64_t>;

/// Returns the number of elements. Throws Error if a dim is < 1 or the product exceeds 2^40.
std::int64_t numel(const Shape& shape);

/// The four dims {N, C, H, W}; lower ranks are unsqueezed on the left. Throws Error for rank > 4.
struct Dims {
  std::int64_t n = 1, c = 1, h = 1, w = 1;
  friend bool operator==(const Dims&, const Dims&) = default;
};
Dims nchw(const Shape& shape);

/// Returns text such as "1x96x16x9".
std::string to_string(const Shape& shape);

/// Returns the coordinates of a row-major index, one per dim.
std::vector<std::int64_t> coordinates(const Shape& shape, std::int64_t index);

constexpr std::int64_t div_up(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}
constexpr std::int64_t round_up(std::int64_t a, std::int64_t b) {
  return div_up(a, b) * b;
}

}  // namespace assay
