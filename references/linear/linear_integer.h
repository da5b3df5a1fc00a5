#pragma once

#include "harness/op/expected.h"
#include "harness/op/params.h"
#include "harness/tensor/tensor.h"
#include "references/linear/linear.h"
#include "references/linear/products.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace assay::references {

/// The float32 epilogue of an int32 sum of (x - zero_point) * w: each step a float32 operation, in this
/// order.
///   factor = x_scale * w_scale[n]
///   v = float(sum) * factor
///   f = v + bias[n]            (where there is a bias)
///   act(f)
struct FloatEpilogue {
  const Linear& linear;
  float x_scale;
  std::span<const float> w_scale;
  std::span<const float> bias;

  float operator()(std::int64_t n, std::int32_t sum) const;
};

using StoreSum = std::function<void(std::int64_t index, std::int64_t n, std::int32_t sum)>;

/// Calls store(index in y, n, sum) for every element of y, from several threads: the sums over k of x * w.
void for_each_sum(const IntegerRows& x, const IntegerRows& w, const StoreSum& store);

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

/// Throws ParameterError where the activation is neither none nor relu.
void check_fixed_point_activation(const Params& params);

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

/// x_q = clamp(roundEven(x * fl32(1 / x.scale)) + x.zero_point, -128, 127), in float32 (NaN: the zero point),
/// acc = sum over k of (x_q - x.zero_point) * w, exact in int32, and y = act(float(acc) * fl32(x.scale *
/// w_scale[n]) + bias[n]), each step a float32 operation in that order; without a bias nothing is added. relu
/// passes a NaN (of the bias) and makes no -0. float32 is exact; float16 is the float32 value rounded to
/// nearest even, bounded by 1 ulp. `inputs`: x (f32 or f16), w (i8), w_scale (f32) and, if the parameter says
/// so, bias (f32).
std::vector<Expected> linear_q8ta_q8csw(const Params& params, std::span<const HostTensor> inputs);

/// acc = sum over k of (x - x.zero_point) * w, exact in int32; then by the parameter `epilogue`:
///   float32: f = act(float(acc) * fl32(x.scale * w_scale[n]) + bias[n]),
///            y = clamp(roundEven(f * fl32(1 / y.scale)) + y.zero_point, -128, 127), each step a float32
///            operation in that order; without a bias nothing is added. NaN (of the bias) gives the zero
///            point.
///   fixed_point: requantized() of fixed_point_channels().
/// Exact. `inputs`: x (i8), w (i8), w_scale (f32) and, if the parameter says so, bias (f32). Throws
/// ParameterError where scales or biases do not fit the fixed point.
std::vector<Expected> q8ta_linear(const Params& params, std::span<const HostTensor> inputs);

}  // namespace assay::references
