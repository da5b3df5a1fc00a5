#include "references/common/real_output.h"

#include "harness/base/parallel.h"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace assay::references {

float ulp_of(Half value) {
  constexpr int mantissa_bits = 10;
  constexpr int bias = 15;
  const int exponent = (value.bits >> mantissa_bits) & 31;
  if (exponent == 31) return 0;
  const int ulp_exponent = std::max(exponent, 1) - bias - mantissa_bits;
  return std::bit_cast<float>(static_cast<std::uint32_t>(ulp_exponent + 127) << 23);
}

std::vector<float> ulp_bounds(std::span<const Half> values) {
  std::vector<float> bound(values.size());
  parallel_for(static_cast<std::int64_t>(values.size()), cheap_grain,
               [&](std::int64_t first, std::int64_t last) {
                 for (std::int64_t i = first; i < last; ++i) bound[i] = ulp_of(values[i]);
               });
  return bound;
}

}  // namespace assay::references
