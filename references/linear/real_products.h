#pragma once

#include <cstdint>
#include <functional>

namespace assay::references {

/// One side of a product. `read` writes the values [first, last) of a row, which a float32 holds except for
/// their last bits; several threads call it.
struct RealRows {
  std::int64_t rows = 0;
  std::int64_t depth = 0;  ///< values per row, K
  std::function<void(std::int64_t row, std::int64_t first, std::int64_t last, double* to)> read;
};

using StoreProduct = std::function<void(std::int64_t m, std::int64_t n, double sum, double magnitude)>;

/// Multiplies all rows of x by all rows of w, [M, K] and [N, K] to [M, N]: sum = sum over k of x * w in
/// float64, in an order that depends only on K, and magnitude = sum over k of |x||w|, which is never too
/// small and too large by at most 2^-15 of it (infinite where float32 cannot hold it). `store` is called once
/// for each (m, n), from several threads.
void real_products(const RealRows& x, const RealRows& w, const StoreProduct& store);

}  // namespace assay::references
