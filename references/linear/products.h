#pragma once

#include "harness/op/params.h"
#include "harness/tensor/tensor.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace assay::references {

/// The number of tiles that is worth a thread, if `grain` multiplications are: in the product of x [M, K]
/// with w [N, K], computed in tiles of `tile` x `tile` results. In a depthwise convolution each channel is a
/// product of its own, with fewer results than a tile.
template <class Rows>
std::int64_t tiles_of_a_thread(const Rows& x, const Rows& w, std::int64_t tile, std::int64_t grain) {
  const std::int64_t of_a_tile = std::min(tile, x.rows) * std::min(tile, w.rows) * x.depth;
  return div_up(grain, std::max<std::int64_t>(of_a_tile, 1));
}

/// The integers of one side of a product; each row's neighbours along K follow each other. 16 bits hold a
/// difference of two int8 values, and processors multiply and add such integers in pairs.
struct IntegerRows {
  std::int64_t rows = 0;
  std::int64_t depth = 0;  ///< values per row, K
  std::vector<std::int16_t> values;

  const std::int16_t* row(std::int64_t index) const { return values.data() + index * depth; }
};

/// The rows of x[..., K] or w[N, K], i8, minus a zero point.
IntegerRows int8_rows(const HostTensor& tensor, std::int32_t zero_point = 0);
/// The rows of x, i8, each minus its own zero point.
IntegerRows int8_rows(const HostTensor& tensor, std::span<const std::int32_t> zero_points);

/// The rows of x (f32 or f16), quantized to -128..127 with the scale and zero point of their row, minus that
/// zero point: clamp(roundEven(x * fl32(1 / scale)) + zero_point) - zero_point, each step in float32. NaN
/// gives the zero point, infinities saturate.
IntegerRows quantized_rows(const HostTensor& x, const std::function<QParams(std::int64_t row)>& qparams);

/// The half of a byte that holds the value of the even k.
enum class EvenNibble : std::uint8_t { Low, High };

/// The rows of w (u8 [N, K / 2]), as nibble - 8.
IntegerRows int4_rows(const HostTensor& w, EvenNibble even);
/// The rows of w (u8 [N, K / 2]), as nibble - 8 minus the zero point of the group, i32 [K / group_size, N].
IntegerRows int4_rows(const HostTensor& w, EvenNibble even, const HostTensor& zero_points);

using StoreSums = std::function<void(std::int64_t m, std::int64_t n, std::span<const std::int32_t> sums)>;

/// Multiplies all rows of x by all rows of w, [M, K] and [N, K] to [M, N], and sums each group of
/// `group_size` neighbours along K; group_size divides K. The sums are exact: int32 holds them
/// (linear_params() checks it). `store` is called once for each (m, n), from several threads.
void integer_products(const IntegerRows& x, const IntegerRows& w, std::int64_t group_size,
                      const StoreSums& store);

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
