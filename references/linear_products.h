#pragma once

#include "references/linear_rows.h"

#include <cstdint>
#include <functional>
#include <span>

// Products of all rows of x with all rows of w: [M, K] and [N, K] to [M, N]. What is stored is called with
// each (m, n) once, from several threads; no result depends on how many there are.

namespace assay::references {

using StoreSums = std::function<void(std::int64_t m, std::int64_t n, std::span<const std::int32_t> sums)>;

/// The sums of products of each group of `group_size` neighbours along K, which divides it. They are exact:
/// int32 holds them (linear_params() sees to it).
void integer_products(const IntegerRows& x, const IntegerRows& w, std::int64_t group_size,
                      const StoreSums& store);

/// One side of a real product. `read` writes the values [first, last) of a row; several threads call it.
struct RealRows {
  std::int64_t rows = 0;
  std::int64_t depth = 0;
  std::function<void(std::int64_t row, std::int64_t first, std::int64_t last, double* to)> read;
};

using StoreProduct = std::function<void(std::int64_t m, std::int64_t n, double sum, double magnitude)>;

/// sum = sum over k of x * w, in float64; magnitude = sum over k of |x||w|.
void real_products(const RealRows& x, const RealRows& w, const StoreProduct& store);

}  // namespace assay::references
