#pragma once

#include "harness/op/params.h"
#include "harness/tensor/dtype.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace assay::references {

/// How scale and zero point are computed from the range of a block.
enum class QParamsRule : std::uint8_t {
  Asymmetric,              ///< scale (hi - lo) / (qmax - qmin), zero point qmin - roundEven(lo / scale)
  Symmetric,               ///< scale max(-lo, hi) / ((qmax - qmin) / 2), zero point the middle
  SymmetricNoClippingErr,  ///< scale max(lo / qmin, hi / qmax), zero point the middle
  PerToken,                ///< asymmetric; the end with the smaller error gives the zero point
  PerRow,                  ///< per-row rule of dynamic linear: no eps, small scales raised to 6.1e-5
};

/// The quantized range, and the least scale (not used by PerRow).
struct QParamsLimits {
  std::int32_t quant_min = -128;
  std::int32_t quant_max = 127;
  float eps = 0x1p-23f;
};

/// The scale and zero point for values from `low` to `high`, low <= 0 <= high. Every step is a float32
/// operation, correctly rounded, in the order of PyTorch's formulas (torchao's choose_qparams_affine;
/// ExecuTorch's per-token and per-row rules). PerRow treats a scale below 2^-126, which devices may flush, as
/// zero.
QParams choose_qparams(QParamsRule rule, const QParamsLimits& limits, float low, float high);

/// The zero point of the symmetric rules: the middle of the range, rounded towards zero.
std::int32_t middle(const QParamsLimits& limits);

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
