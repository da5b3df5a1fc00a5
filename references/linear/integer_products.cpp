#include "references/linear/integer_products.h"

#include "harness/base/parallel.h"
#include "harness/tensor/shape.h"
#include "references/linear/product_tiles.h"

#include <algorithm>
#include <vector>

namespace assay::references {
namespace {

/// Rows of x that use the same rows of w, while a core's cache holds both.
constexpr std::int64_t tile = 16;
/// The number of multiplications that is worth a thread.
constexpr std::int64_t grain = 1 << 18;

/// Written so that -O3 multiplies neighbours in pairs, for which every x86-64 has an instruction.
std::int32_t dot(const std::int16_t* x, const std::int16_t* w, std::int64_t count) {
  std::int32_t sum = 0;
  for (std::int64_t k = 0; k < count; ++k) sum += std::int32_t{x[k]} * w[k];
  return sum;
}

void sum_groups(const std::int16_t* x, const std::int16_t* w, std::int64_t group_size,
                std::span<std::int32_t> sums) {
  for (std::int32_t& sum : sums) {
    sum = dot(x, w, group_size);
    x += group_size;
    w += group_size;
  }
}

/// With a size that the compiler knows, small groups take half as long.
template <std::int64_t size>
void sum_groups_of(const std::int16_t* x, const std::int16_t* w, std::int64_t, std::span<std::int32_t> sums) {
  sum_groups(x, w, size, sums);
}

using SumGroups = decltype(&sum_groups);

SumGroups sum_groups_for(std::int64_t group_size) {
  switch (group_size) {
    case 8:
      return sum_groups_of<8>;
    case 16:
      return sum_groups_of<16>;
    case 32:
      return sum_groups_of<32>;
    case 64:
      return sum_groups_of<64>;
    default:
      return sum_groups;
  }
}

}  // namespace

void integer_products(const IntegerRows& x, const IntegerRows& w, std::int64_t group_size,
                      const StoreSums& store) {
  const std::int64_t across = div_up(w.rows, tile);
  const SumGroups sum_all = sum_groups_for(group_size);
  const std::int64_t least = tiles_of_a_thread(x, w, tile, grain);
  parallel_for(div_up(x.rows, tile) * across, least, [&](std::int64_t first, std::int64_t last) {
    std::vector<std::int32_t> sums(static_cast<std::size_t>(w.depth / group_size));
    for (std::int64_t t = first; t < last; ++t) {
      const std::int64_t m0 = t / across * tile, n0 = t % across * tile;
      for (std::int64_t m = m0; m < std::min(m0 + tile, x.rows); ++m) {
        for (std::int64_t n = n0; n < std::min(n0 + tile, w.rows); ++n) {
          sum_all(x.row(m), w.row(n), group_size, sums);
          store(m, n, sums);
        }
      }
    }
  });
}

}  // namespace assay::references
