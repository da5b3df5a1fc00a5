#pragma once

#include "harness/tensor/shape.h"

#include <algorithm>
#include <cstdint>

namespace assay::references {

/// The number of tiles that is worth a thread, if `grain` multiplications are: in the product of x [M, K]
/// with w [N, K], computed in tiles of `tile` x `tile` results. In a depthwise convolution each channel is a
/// product of its own, with fewer results than a tile.
template <class Rows>
std::int64_t tiles_of_a_thread(const Rows& x, const Rows& w, std::int64_t tile, std::int64_t grain) {
  const std::int64_t of_a_tile = std::min(tile, x.rows) * std::min(tile, w.rows) * x.depth;
  return div_up(grain, std::max<std::int64_t>(of_a_tile, 1));
}

}  // namespace assay::references
