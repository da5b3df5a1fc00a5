#include "references/common/exact_float.h"

#include <bit>
#include <cmath>
#include <cstdint>

namespace assay::references {

double lowest_bit(double value) {
  int exponent = 0;
  const auto mantissa = static_cast<std::int64_t>(std::ldexp(std::frexp(value, &exponent), 53));
  return std::ldexp(1.0, exponent - 53 + std::countr_zero(static_cast<std::uint64_t>(mantissa)));
}

}  // namespace assay::references
