#include "references/linear/linear_integer.h"

#include "references/linear/integer_products.h"

namespace assay::references {

float FloatEpilogue::operator()(std::int64_t n, std::int32_t sum) const {
  const auto channel = static_cast<std::size_t>(n);
  const float factor = x_scale * w_scale[channel];
  const float value = static_cast<float>(sum) * factor;
  return linear.activated(bias.empty() ? value : value + bias[channel]);
}

void for_each_sum(const IntegerRows& x, const IntegerRows& w, const StoreSum& store) {
  integer_products(x, w, w.depth, [&](std::int64_t m, std::int64_t n, std::span<const std::int32_t> sums) {
    store(m * w.rows + n, n, sums.front());
  });
}

}  // namespace assay::references
