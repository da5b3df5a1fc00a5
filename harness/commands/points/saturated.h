#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace assay::app {

// Manifests may declare integers of the whole 64-bit range. What is drawn beyond it becomes its end.

inline std::int64_t saturated_sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < 0 ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
}

inline std::int64_t saturated_product(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (!__builtin_mul_overflow(a, b, &product)) return product;
  return (a < 0) != (b < 0) ? std::numeric_limits<std::int64_t>::min()
                            : std::numeric_limits<std::int64_t>::max();
}

/// The nearest integer of a number that is not NaN.
inline std::int64_t saturated_round(double number) {
  constexpr double end = 0x1p63;  // the first beyond 64 bits
  if (number >= end) return std::numeric_limits<std::int64_t>::max();
  if (number <= -end) return std::numeric_limits<std::int64_t>::min();
  return std::llround(number);
}

}  // namespace assay::app
