#pragma once

#include "harness/op/expected.h"
#include "harness/tensor/tensor.h"

#include <cstdint>
#include <optional>

namespace assay {

/// How one output compares with what its reference expects.
struct OutputCheck {
  bool pass = false;
  bool too_many_flips = false;  ///< banded: every element is acceptable, but too many took the other integer
  std::int64_t mismatches = 0;
  std::optional<std::int64_t> first_bad;  ///< row-major index
  double max_abs_err = 0;
  /// Largest share of an element's bound that was spent; infinity when an element without a bound is wrong.
  /// Banded: flips over the number that is still accepted.
  double err_over_bound = 0;
  std::int64_t flips = 0;
};

/// Whether `value` would be accepted as element `index`. Values of any dtype travel as double, which holds
/// every device dtype exactly. `scale` multiplies bounds (a case's tolerance).
bool accepts(const Expected& expected, std::int64_t index, double value, double scale = 1);

/// How many banded flips a row may have: the expected number plus six standard deviations of a Poisson count.
double allowed_flips(const Expected& expected, double scale = 1);

/// Compares every element. `got` has the dtype and shape of `expected.values`; std::logic_error otherwise.
OutputCheck check_output(const Expected& expected, const HostTensor& got, double scale = 1);

/// |got - expected| of one element, infinity where exactly one of them is NaN or infinite.
double absolute_error(double expected, double got);

}  // namespace assay
