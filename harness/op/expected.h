#pragma once

#include "harness/base/names.h"
#include "harness/tensor/tensor.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace assay {

/// Says how an output is checked.
enum class OutputClass : std::uint8_t {
  Exact,    ///< the same integers; floats with the same bits (results below 2^-126 may be flushed to zero)
  Banded,   ///< integers that may be off by one inside the band around a rounding tie
  Bounded,  ///< |got - expected| <= bound, per element
};

/// "exact", "banded", "bounded"
inline std::string_view name_of(OutputClass output_class) {
  static constexpr Names<3> names{"exact", "banded", "bounded"};
  return name_in(names, output_class);
}

/// A reference's answer for one output: the values and the allowed differences from them. The op says how the
/// output is checked (TensorSpec::output_class), which also determines which members are given; an exact
/// output has only values. Each list has one entry per element.
struct Expected {
  HostTensor values;
  /// For bounded outputs: the absolute error that every impl may have (the rounding of a store). Empty: 0. An
  /// infinite entry: the op's definition leaves open whether the element is its value or NaN.
  std::vector<float> bound;
  /// For bounded and banded outputs: the largest error for a unit error of 1, such as the sum of |x||w|s. The
  /// impl's unit error (Impl::unit_error) multiplies it. For banded outputs it is 0 where every step is
  /// exact. Empty: no impl may differ by more than `bound`.
  std::vector<float> magnitude;
  /// For bounded outputs with a magnitude: the sum of the absolute values of which the element is the sum.
  /// What additions alone round (UnitError::of_sums) multiplies it, where a magnitude, which covers all
  /// steps, would be many times as large. Empty: 0.
  std::vector<float> sums;
  /// For banded outputs: the value before rounding and clamping, with the zero point.
  std::vector<double> unrounded;
  /// For outputs that are written in part (TensorSpec::written_in_part): 1 for each element that the op
  /// leaves as it was, 0 for each that it writes. `values`, which have the output's dtype, hold what was
  /// there, and every bit of it must be there afterwards.
  std::vector<std::uint8_t> kept;
};

/// The largest error of an impl's arithmetic for an element: `of_magnitude` times its Expected::magnitude,
/// plus `of_sums` times its Expected::sums.
struct UnitError {
  double of_magnitude = 0;
  double of_sums = 0;

  UnitError() = default;
  UnitError(double magnitude,
            double sums = 0)  // NOLINT(google-explicit-constructor): most impls have one number
      : of_magnitude(magnitude), of_sums(sums) {}
};

}  // namespace assay
