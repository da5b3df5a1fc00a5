#pragma once

#include <cstdint>

namespace assay::ops {

/// gamma(n) for n consecutive roundings to float32 and the reference's own: Higham, Accuracy and Stability of
/// Numerical Algorithms, 3.1.
inline double gamma_of(std::int64_t roundings) {
  const double nu = static_cast<double>(roundings + 1) * 0x1p-24;
  return nu / (1 - nu);
}

/// One unit in the last place of a float32 as a part of its value, at most. The precision of functions is
/// given in it (ops/README.md has the table).
inline constexpr double float32_ulp = 0x1p-23;

}  // namespace assay::ops
