#pragma once

#include "references/linear/linear_rows.h"

#include <cstdint>
#include <functional>
#include <span>

namespace assay::references {

using StoreSums = std::function<void(std::int64_t m, std::int64_t n, std::span<const std::int32_t> sums)>;

/// Multiplies all rows of x by all rows of w, [M, K] and [N, K] to [M, N], and sums each group of
/// `group_size` neighbours along K; group_size divides K. The sums are exact: int32 holds them
/// (linear_params() checks it). `store` is called once for each (m, n), from several threads.
void integer_products(const IntegerRows& x, const IntegerRows& w, std::int64_t group_size,
                      const StoreSums& store);

}  // namespace assay::references
