#pragma once

#include "harness/tensor/dtype.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace assay::references {

/// The real value of an element of a float tensor.
inline float real_of(float value) {
  return value;
}
inline float real_of(Half value) {
  return to_float(value);
}

/// The int8 clamp(roundEven(real * inverse) + zero_point, -128, 127) in float32 steps, `inverse` being fl32(1
/// / scale); a product that is a NaN gives the zero point.
inline std::int8_t quantized(float real, float inverse, float zero_point) {
  const float scaled = real * inverse;
  const float moved = std::nearbyint(std::isnan(scaled) ? 0.0F : scaled) + zero_point;
  return static_cast<std::int8_t>(std::clamp(moved, -128.0F, 127.0F));
}

}  // namespace assay::references
