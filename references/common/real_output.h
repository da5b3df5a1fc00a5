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
  /// Says what float32 results and steps that a device may flush to zero add to the bounds.
  enum class Flushed : std::uint8_t {
    Relative,  ///< magnitudes are never below 2^-90: what is flushed lies below the unit error times that
    Absolute,  ///< 2^-126 for every f32 element; the op adds what its steps may lose to `absolute`
  };

  BoundedOutput(DType dtype, const Shape& shape, Flushed flushed = Flushed::Relative);

  /// Sets one element, by whose `absolute` every impl may be off, too (0 where `flushed` is Relative). A
  /// value that the dtype cannot hold becomes the infinity that it rounds to. An infinite or NaN value has
  /// the magnitude 0, so that nothing else is accepted, except NaN where `absolute` is infinite
  /// (Expected::bound). No magnitude or bound is above what a float32 holds, unless it is infinite.
  void set(std::int64_t index, double value, double magnitude, double absolute = 0);

  /// Gives all elements sums (Expected::sums), 0 at first. Without it set_sum() must not be called.
  void add_sums() { expected_.sums.resize(expected_.magnitude.size()); }
  /// Sets the sum of an element whose value is set; that of an infinite or NaN value stays 0.
  void set_sum(std::int64_t index, double sum);

  /// Sets an element that every impl must give exactly; the dtype holds it.
  void set_exact(std::int64_t index, double value);

  Expected take() { return std::move(expected_); }

 private:
  DType dtype_;
  Flushed flushed_;
  Expected expected_;
};

}  // namespace assay::references
