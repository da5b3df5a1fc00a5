#pragma once

#include "harness/op/params.h"
#include "harness/tensor/dtype.h"
#include "harness/tensor/tensor.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace assay::references {

/// Which elements share a scale and a zero point, for ops whose name says it. Each is a block size of
/// quantize_affine.
enum class Granularity : std::uint8_t {
  PerTensor,  ///< all of them
  PerToken,  ///< elements of one line along the last dim; there are as many tokens as the other dims' product
  PerChannel  ///< elements with the same index along `axis`
};

/// The elements of a block along each dim. `axis` counts from -rank to rank - 1 and is used only per channel.
/// Throws ParameterError where the shape does not have the axis.
std::vector<std::int64_t> block_size_of(Granularity granularity, const Shape& shape, std::int64_t axis = 0);

/// The parameters of quantize_affine and dequantize_affine that mean the same as those of an op with a
/// granularity in its name: `shape` and, per channel, `axis` give `block_size`; zero points are integers.
Params affine_params_of(Granularity granularity, const Params& named);

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
