#pragma once

#include "harness/op/params.h"
#include "references/linear/linear_integer.h"
#include "references/linear/linear_rows.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace assay::references {

/// A factor r > 0 as mult * 2^-shift: q = (A * mult + 2^(shift - 1)) >> shift is A * r, rounded.
struct FixedPoint {
  std::int64_t mult = 0;  ///< 2^30 to 2^31 - 1
  int shift = 0;          ///< 1 to 62
};

/// The fixed point of r = m * 2^e with m in [0.5, 1): mult = llrint(m * 2^31) and shift = 31 - e, or half of
/// that mult and a shift smaller by one where mult would be 2^31. Nothing where shift would leave 1..62.
std::optional<FixedPoint> fixed_point(double r);

/// The integers that requantize the sums of one output channel without floats.
struct FixedPointChannel {
  FixedPoint factor;      ///< x_scale * w_scale / y_scale
  std::int32_t bias = 0;  ///< llrint(bias / (x_scale * w_scale)), clamped to int32
};

/// The integers of each output channel, computed in float64. `w` has the channels' weights; `bias` may be
/// empty. Throws ParameterError ("epilogue"), naming the channel, where a factor has no fixed point and where
/// sum + bias could leave int32 for some x.
std::vector<FixedPointChannel> fixed_point_channels(const QParams& x, const QParams& y, const IntegerRows& w,
                                                    std::span<const float> w_scale,
                                                    std::span<const float> bias);

/// clamp(((A * mult + 2^(shift - 1)) >> shift) + zero_point, -128, 127) with A = sum + bias, or max(A, 0)
/// with a relu; the shift is arithmetic.
std::int8_t requantized(const FixedPointChannel& channel, std::int32_t sum, bool relu,
                        std::int32_t zero_point);

/// Computes an int8 from an int32 sum of (x - x.zero_point) * w, as the parameters `epilogue`, x and y say:
///   float32: f = FloatEpilogue,
///            y = clamp(roundEven(f * fl32(1 / y.scale)) + y.zero_point, -128, 127), each step a float32
///            operation in that order. NaN (of the bias) gives the zero point.
///   fixed_point: requantized() of fixed_point_channels().
class Int8Epilogue {
 public:
  /// Keeps references to `linear` and the spans. `w` has the weights of each output channel. Throws
  /// ParameterError where scales or biases do not fit the fixed point.
  Int8Epilogue(const Params& params, const Linear& linear, const IntegerRows& w,
               std::span<const float> w_scale, std::span<const float> bias);

  std::int8_t operator()(std::int64_t n, std::int32_t sum) const;

 private:
  FloatEpilogue floats_;
  QParams y_;
  float inverse_;
  std::vector<FixedPointChannel> channels_;  ///< empty: float32
};

}  // namespace assay::references
