#include "ops/convolution/sizes.h"

#include "ops/common/grid.h"

#include <algorithm>
#include <array>

namespace assay::ops {
namespace {

// The workgroups that keep a large device busy, and the most that run at a time where two fit on a shader
// core. Sizes depend on the point alone, so these numbers count for every device.
constexpr std::int64_t cores = assumed_shader_cores;
constexpr std::int64_t busy_workgroups = 96, workgroups_at_a_time = 2 * cores;
constexpr std::int64_t fragment_depth = 32;
constexpr std::int64_t most_splits = 64;  // the tunable's maximum

constexpr std::array<const char*, 8> sizes{"tile_m",     "tile_n",      "tile_k", "subgroup_m",
                                           "subgroup_n", "subgroups_k", "splits", "stages"};

std::int64_t tiles_of(const ProductShape& shape, std::int64_t m, std::int64_t n) {
  return div_up(shape.rows, m) * shape.groups * div_up(shape.outputs, n);
}

constexpr std::int64_t usual_slab = 128, long_slab = 192;

std::int64_t slab_of(std::int64_t depth) {
  return std::clamp(power_of_two_from(depth), fragment_depth, usual_slab);
}

/// Whether slabs of 192 values are whole where slabs of 128 leave a rest, which matters with so few slabs.
bool wants_long_slabs(std::int64_t depth) {
  return depth % long_slab == 0 && depth % usual_slab != 0;
}

/// Subgroups that share K: two where a slab has an even number of fragments.
std::int64_t sharing(std::int64_t slab) {
  return slab / fragment_depth % 2 == 0 ? 2 : 1;
}

Tune tune(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t subgroup_m, std::int64_t subgroups_k) {
  return {{"tile_m", m},
          {"tile_n", n},
          {"tile_k", k},
          {"subgroup_m", subgroup_m},
          {"subgroup_n", std::min<std::int64_t>(n, 32)},
          {"subgroups_k", subgroups_k}};
}

/// Large tiles read the least per product. Where there are too few of them, smaller tiles are better, whose
/// subgroups share K; where these are too few, too, workgroups share K.
Tune fast_sizes(const ProductShape& shape) {
  const std::int64_t n = std::clamp(power_of_two_from(shape.outputs), std::int64_t{16}, std::int64_t{128});
  const std::int64_t k = slab_of(shape.depth);
  if (n == 128 && tiles_of(shape, 128, 128) >= busy_workgroups) return tune(128, 128, k, 32, 1);
  if (n <= 32 && tiles_of(shape, 128, n) >= cores) return tune(128, n, k, 32, 1);
  if (n == 64 && tiles_of(shape, 128, n) >= busy_workgroups && wants_long_slabs(shape.depth)) {
    return tune(128, n, long_slab, 32, 1);
  }
  if (n >= 64 && tiles_of(shape, 64, 64) >= cores) return tune(64, 64, k, 32, sharing(k));
  const std::int64_t narrow = std::min<std::int64_t>(n, 32);
  if (tiles_of(shape, 64, narrow) >= busy_workgroups) return tune(64, narrow, k, 32, sharing(k));
  const std::int64_t deep = std::min<std::int64_t>(div_up(shape.depth, 128) * 128, 256);
  if (tiles_of(shape, 32, narrow) >= cores / 3) return tune(32, narrow, deep, 16, deep / 64);
  if (shape.depth < 2048) return tune(32, narrow, deep, 16, deep / 64);
  Tune shared = tune(64, narrow, 128, 32, 2);
  shared["splits"] = std::clamp(workgroups_at_a_time / tiles_of(shape, 64, narrow), std::int64_t{1},
                                std::min(shape.depth / 256, most_splits));
  return shared;
}

}  // namespace

Tune with_fast_sizes(const ImplPoint& point, const ProductShape& shape) {
  if (std::ranges::any_of(sizes, [&](const char* name) { return point.tune.contains(name); }))
    return point.tune;
  Tune tuned = fast_sizes(shape);
  tuned.insert(point.tune.begin(), point.tune.end());
  return tuned;
}

}  // namespace assay::ops
