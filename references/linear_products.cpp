#include "references/linear_products.h"

#include "harness/base/parallel.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace assay::references {
namespace {

std::int32_t dot(const std::int16_t* x, const std::int16_t* w, std::int64_t count) {
  std::int32_t sum = 0;
  for (std::int64_t k = 0; k < count; ++k) sum += std::int32_t{x[k]} * w[k];
  return sum;
}

}  // namespace

void integer_products(const IntegerRows& x, const IntegerRows& w, std::int64_t group_size,
                      const StoreSums& store) {
  parallel_for(w.rows, 1, [&](std::int64_t first, std::int64_t last) {
    std::vector<std::int32_t> sums(static_cast<std::size_t>(w.depth / group_size));
    for (std::int64_t m = 0; m < x.rows; ++m) {
      for (std::int64_t n = first; n < last; ++n) {
        for (std::size_t g = 0; g < sums.size(); ++g) {
          const std::int64_t k = static_cast<std::int64_t>(g) * group_size;
          sums[g] = dot(x.row(m) + k, w.row(n) + k, group_size);
        }
        store(m, n, sums);
      }
    }
  });
}

void real_products(const RealRows& x, const RealRows& w, const StoreProduct& store) {
  parallel_for(w.rows, 1, [&](std::int64_t first, std::int64_t last) {
    std::vector<double> a(static_cast<std::size_t>(x.depth)), b(a.size());
    for (std::int64_t m = 0; m < x.rows; ++m) {
      x.read(m, 0, x.depth, a.data());
      for (std::int64_t n = first; n < last; ++n) {
        w.read(n, 0, w.depth, b.data());
        double sum = 0, magnitude = 0;
        for (std::size_t k = 0; k < a.size(); ++k) {
          sum += a[k] * b[k];
          magnitude += std::fabs(a[k] * b[k]);
        }
        store(m, n, sum, magnitude);
      }
    }
  });
}

}  // namespace assay::references
