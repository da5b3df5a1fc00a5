#pragma once

#include "harness/tensor/tensor.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace assay {

/// How an output is judged.
enum class OutputClass : std::uint8_t {
  Exact,    ///< same integers; floats the same bits (results below 2^-126 may be flushed to zero)
  Banded,   ///< integers that may be off by one inside the band around a rounding tie
  Bounded,  ///< |got - expected| <= bound, per element
};

std::string_view name_of(OutputClass output_class);  ///< "exact", "banded", "bounded"

/// What a reference says of one output: the values, and what an answer may differ from them by. How it is
/// judged is said by the op, TensorSpec::output_class, and which of these are given follows from that: an
/// exact output has values alone. All have an entry for each element.
struct Expected {
  HostTensor values;
  /// Bounded: what every impl may be off by, absolutely (a store's rounding). Empty: 0.
  std::vector<float> bound;
  /// Bounded and banded: the largest error for a unit error of 1, the sum of |x||w|s for example. The impl's
  /// unit error (Impl::unit_error) multiplies it. Banded: 0 where every step is exact. Empty: no impl may
  /// differ by more than `bound`.
  std::vector<float> magnitude;
  /// Banded: the value before it was rounded and clamped, zero point included.
  std::vector<double> unrounded;
};

}  // namespace assay
