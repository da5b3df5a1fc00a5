#pragma once

#include "references/linear_rows.h"

#include <cstdint>
#include <functional>
#include <span>

namespace assay::references {

using StoreSums = std::function<void(std::int64_t m, std::int64_t n, std::span<const std::int32_t> sums)>;

/// Products of all rows of x with all rows of w, [M, K] and [N, K] to [M, N]: the sum of each group of
/// `group_size` neighbours along K, which divides it. They are exact: int32 holds them (linear_params() sees
/// to it). `store` is called with each (m, n) once, from several threads.
void integer_products(const IntegerRows& x, const IntegerRows& w, std::int64_t group_size,
                      const StoreSums& store);

}  // namespace assay::references
