#pragma once

#include <cmath>
#include <cstdint>

// Whether float32 steps round, for banded outputs: a step that rounds nothing adds nothing to the band.

namespace assay::references {

/// Whether a float32 holds this value exactly.
inline bool is_float32(double value) {
  return static_cast<double>(static_cast<float>(value)) == value;
}

/// The largest power of two of which a value other than 0 is a multiple. Products with integers and sums of
/// such products are multiples of it, too, so they are float32 values up to 2^24 times it.
double lowest_bit(double value);

}  // namespace assay::references
