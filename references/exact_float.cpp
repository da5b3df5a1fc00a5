#include "references/exact_float.h"

#include <algorithm>
#include <bit>

namespace assay::references {
namespace {

/// The largest power of two of which a value other than 0 is a multiple.
double lowest_bit(double value) {
  int exponent = 0;
  const auto mantissa = static_cast<std::int64_t>(std::ldexp(std::frexp(value, &exponent), 53));
  return std::ldexp(1.0, exponent - 53 + std::countr_zero(static_cast<std::uint64_t>(mantissa)));
}

}  // namespace

void ExactTerms::add_exact(double term) {
  absolute_sum_ += std::fabs(term);
  common_unit_ = std::min(common_unit_, lowest_bit(term));
}

}  // namespace assay::references
