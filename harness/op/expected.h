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

/// What a reference says of one output: the values, and how far from them an answer may be.
struct Expected {
  HostTensor values;
  OutputClass output_class = OutputClass::Exact;
  /// Bounded: absolute bound, one per element.
  std::vector<float> bound;
  /// Banded: the other integer that is accepted, as a difference (-1, 0 or +1), one per element.
  std::vector<std::int8_t> band;
  /// Banded: how many elements are expected to take it (the sum of 2e); far more fails the row.
  double expected_flips = 0;
};

}  // namespace assay
