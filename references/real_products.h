#pragma once

#include <cstdint>
#include <functional>

namespace assay::references {

/// One side of a product. `read` writes the values [first, last) of a row, each of which a float32 holds but
/// for its last bits; several threads call it.
struct RealRows {
  std::int64_t rows = 0;
  std::int64_t depth = 0;  ///< values of a row, K
  std::function<void(std::int64_t row, std::int64_t first, std::int64_t last, double* to)> read;
};

using StoreProduct = std::function<void(std::int64_t m, std::int64_t n, double sum, double magnitude)>;

/// Products of all rows of x with all rows of w, [M, K] and [N, K] to [M, N]: sum = sum over k of x * w in
/// float64, in an order that depends on K alone, and magnitude = sum over k of |x||w|, which is never too
/// small and too large by 2^-15 of it at most (infinite where float32 cannot hold it). `store` is called with
/// each (m, n) once, from several threads.
void real_products(const RealRows& x, const RealRows& w, const StoreProduct& store);

}  // namespace assay::references
