#pragma once

#include "harness/op/expected.h"
#include "harness/tensor/dtype.h"
#include "harness/tensor/tensor.h"

#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace assay::references {

// Whether float32 steps round, for banded outputs: a step that rounds nothing adds nothing to the band.

/// Whether a float32 holds this value exactly.
inline bool is_float32(double value) {
  return static_cast<double>(static_cast<float>(value)) == value;
}

/// The largest power of two of which a value other than 0 is a multiple. Products with integers and sums of
/// such products are multiples of it, too, so they are float32 values up to 2^24 times it.
double lowest_bit(double value);

/// One unit in the last place of a float16, 2^-24 for denormals; 0 for infinities and NaN. Devices may round
/// float16 stores either to nearest or towards zero.
float ulp_of(Half value);

/// The ulp_of() of each value: the bound of a float16 output whose float32 value is exact.
std::vector<float> ulp_bounds(std::span<const Half> values);

/// Stores a value computed in float32 as the output's type; a half is rounded to nearest even.
inline void store(float& y, float value) {
  y = value;
}
inline void store(Half& y, float value) {
  y = to_half(value);
}

/// The single output of an op whose values are exact in float32, as f32 (exact) or f16 (bounded: devices may
/// round stores to it either way, so 1 ulp). `compute(y)` gets its elements as a span of float or Half, to
/// which it writes with store().
template <class Compute>
std::vector<Expected> real_output(DType dtype, const Shape& shape, const Compute& compute) {
  std::vector<Expected> outputs(1);
  Expected& y = outputs[0];
  y.values = HostTensor(dtype, shape);
  if (dtype == DType::F32) {
    compute(y.values.as<float>());
    return outputs;
  }
  compute(y.values.as<Half>());
  y.bound = ulp_bounds(y.values.as<Half>());
  return outputs;
}

/// A bounded output (f32 or f16) of an op that computes in real arithmetic. Its values are float64, so that a
/// bound need not include the reference's own rounding, and each has a magnitude. Float16 stores may be off
/// by 1 ulp more.
class BoundedOutput {
 public:
  BoundedOutput(DType dtype, const Shape& shape);

  /// Sets one element. A value that the dtype cannot hold becomes the infinity that it rounds to. An infinite
  /// or NaN value has the magnitude 0, so that nothing else is accepted. Other magnitudes are never below
  /// 2^-90 (what a step flushes to zero lies below the unit error times that), nor above what a float32
  /// holds.
  void set(std::int64_t index, double value, double magnitude);

  Expected take() { return std::move(expected_); }

 private:
  DType dtype_;
  Expected expected_;
};

}  // namespace assay::references
