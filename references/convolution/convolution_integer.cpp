#include "references/convolution/convolution_integer.h"

#include "harness/base/parallel.h"
#include "references/convolution/convolution_rows.h"
#include "references/linear/integer_products.h"

#include <algorithm>

namespace assay::references {
namespace {

constexpr std::int64_t values_of_a_part = 1 << 23;  // 16 MiB
IntegerRows rows_of_group(const Convolution& conv, const IntegerRows& w, std::int64_t group) {
  const std::int64_t rows = conv.outputs_of_group();
  return {rows, w.depth, {w.row(group * rows), w.row((group + 1) * rows)}};
}

/// The rows of a range of pixels that begins at `first`.
void spread(const Patches& patches, const std::vector<std::int16_t>& x, std::int64_t group,
            std::int64_t first, IntegerRows& to) {
  const std::int64_t depth = to.depth;
  to.values.resize(static_cast<std::size_t>(to.rows * depth));
  parallel_for(to.rows, div_up(cheap_grain, depth), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      patches.read(x, group, first + row, 0, depth, to.values.data() + row * depth);
    }
  });
}

}  // namespace

void for_each_sum(const Convolution& conv, const IntegerRows& x, const IntegerRows& w,
                  const StoreSum& store) {
  const std::vector<std::int16_t> last = channels_last(conv, x.values);
  const Patches patches(conv);
  const std::int64_t pixels = conv.pixels_of_y(), part = div_up(values_of_a_part, w.depth);
  IntegerRows some{0, w.depth, {}};
  for (std::int64_t group = 0; group < conv.groups; ++group) {
    const IntegerRows own = rows_of_group(conv, w, group);
    for (std::int64_t first = 0; first < pixels; first += part) {
      some.rows = std::min(part, pixels - first);
      spread(patches, last, group, first, some);
      integer_products(some, own, w.depth,
                       [&](std::int64_t m, std::int64_t n, std::span<const std::int32_t> sums) {
                         const std::int64_t channel = group * own.rows + n;
                         store(patches.index_in_y(first + m, channel), channel, sums.front());
                       });
    }
  }
}

}  // namespace assay::references
