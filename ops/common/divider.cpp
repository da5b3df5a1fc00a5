#include "ops/common/divider.h"

#include <bit>
#include <stdexcept>
#include <string>

namespace assay::ops {

// With l = ceil(log2 d), the multiplier ceil(2^(31+l) / d) is less than 2^32 and exceeds the true ratio by
// less than 2^l / d parts of 2^(31+l): too little to change a quotient of a 31-bit number (Granlund and
// Montgomery, "Division by invariant integers using multiplication", PLDI 1994).
Divider divider(std::int64_t divisor) {
  if (divisor < 1 || divisor >= std::int64_t{1} << 31) {
    throw std::logic_error("cannot make a divider for " + std::to_string(divisor) +
                           ": it must be between 1 and 2^31 - 1");
  }
  if (divisor == 1) return {};
  const auto d = static_cast<std::uint64_t>(divisor);
  const int l = static_cast<int>(std::bit_width(d - 1));
  const std::uint64_t multiplier = ((std::uint64_t{1} << (31 + l)) + d - 1) / d;
  return {static_cast<std::uint32_t>(multiplier), static_cast<std::uint32_t>(l - 1)};
}

}  // namespace assay::ops
