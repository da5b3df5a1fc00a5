#pragma once

#include <cmath>
#include <cstdint>

// Whether float32 steps round, for banded outputs: a step that does not adds nothing to the band.

namespace assay::references {

/// Whether a float32 holds the value.
inline bool is_float32(double value) {
  return static_cast<double>(static_cast<float>(value)) == value;
}

/// Terms of a sum that float32 operations make of an integer each: whether all terms and all sums of some of
/// them are float32 values, so that adding them rounds nothing in whatever order.
class ExactTerms {
 public:
  /// `term` is the integer times its scale, exactly or in float64.
  void add(std::int32_t integer, double term) {
    is_exact_ = is_exact_ && is_float32(integer) && is_float32(term);
    if (is_exact_ && term != 0) add_exact(term);
  }
  bool are_exact() const { return is_exact_ && absolute_sum_ <= std::ldexp(common_unit_, 24); }

 private:
  void add_exact(double term);

  bool is_exact_ = true;
  double absolute_sum_ = 0;
  double common_unit_ = std::ldexp(1.0, 128);  ///< a power of two of which all terms are multiples
};

}  // namespace assay::references
