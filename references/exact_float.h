#pragma once

#include <cmath>
#include <cstdint>

// Whether float32 steps round, for banded outputs: a step that does not adds nothing to the band.

namespace assay::references {

/// Whether a float32 holds the value.
inline bool is_float32(double value) {
  return static_cast<double>(static_cast<float>(value)) == value;
}

/// The largest power of two of which a value other than 0 is a multiple: products with integers, and sums of
/// these, are multiples of it too, and so float32 values up to 2^24 times it.
double lowest_bit(double value);

}  // namespace assay::references
