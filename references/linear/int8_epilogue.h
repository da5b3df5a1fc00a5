#pragma once

#include "harness/op/params.h"
#include "references/linear/fixed_point.h"
#include "references/linear/linear_integer.h"

#include <cstdint>
#include <span>
#include <vector>

namespace assay::references {

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
