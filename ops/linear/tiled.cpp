#include "ops/linear/tiled.h"

#include "ops/common/cpu_loops.h"
#include "ops/common/grid.h"
#include "ops/common/shader_values.h"
#include "ops/common/unit_error.h"
#include "ops/linear/tensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace assay::ops {
namespace {

using references::Linear;

constexpr Layout layout_of_integers = Layout::P4H4W;  // where x is quantized
constexpr std::int64_t bytes_of_quad = 16;
constexpr std::int64_t deepest_slab = 256, least_depth = 16;
// This many tiles fill a large device.
constexpr std::int64_t tiles_to_fill_a_device = 192;

/// The steps of a slab: one value of K each, or a word of four.
std::int64_t steps_of(const Tiling& tiling, const LinearKind& kind) {
  return kind.is_real() ? tiling.k : tiling.k / 4;
}

std::int64_t shared_bytes(const Tiling& tiling, const LinearKind& kind) {
  return steps_of(tiling, kind) * (tiling.m / 4 + 1 + tiling.n / 4 + 1) * bytes_of_quad;
}

/// The steps of a slab that lie in one group.
std::int64_t steps_of_part(const Tiling& tiling, const Linear& linear, const LinearKind& kind) {
  return kind.is_grouped() ? std::min(tiling.k, linear.group_size) / 4 : steps_of(tiling, kind);
}

/// The steps that an invocation multiplies in one iteration.
std::int64_t steps_at_once(std::int64_t of_part) {
  return of_part % 4 == 0 ? 4 : 2;
}

/// The iterations of the two loops over `count` loads, from memory and to shared memory. lavapipe unrolls
/// short ones.
std::int64_t turns_of_loads(std::int64_t count) {
  constexpr std::int64_t most_unrolled = 8;
  return count <= most_unrolled ? 0 : 2 * turns(count);
}

/// The loop iterations of an invocation (shaders/linear/linear_tiled.comp, matmul/matmul_tiled.comp). Weights
/// are counted as if they were not packed.
std::int64_t turns_of(const Tiling& tiling, const Linear& linear, const LinearKind& kind) {
  const std::int64_t steps = steps_of(tiling, kind), of_part = steps_of_part(tiling, linear, kind);
  const std::int64_t of_sums = turns(of_part / steps_at_once(of_part));
  std::int64_t of_slab = kind.is_grouped() ? turns(div_up(steps, of_part), of_sums) : of_sums;
  for (const std::int64_t side : {tiling.m, tiling.n}) {
    of_slab += turns_of_loads(div_up(side / 4 * steps, tiling.invocations()));
  }
  return turns(div_up(linear.k, tiling.k), of_slab);
}

/// Whether a slab of depth `k` is whole groups, or divides a group.
bool fits_groups(std::int64_t k, std::int64_t group_size) {
  return k % group_size == 0 || group_size % k == 0;
}

/// The depth of a slab near `wanted`: a multiple of 16 that fits the groups.
std::int64_t slab_depth(const Linear& linear, const LinearKind& kind, std::int64_t wanted) {
  if (!kind.is_grouped()) return wanted;
  for (std::int64_t k = wanted; k >= least_depth; k /= 2) {
    if (fits_groups(k, linear.group_size)) return k;
  }
  return std::lcm(linear.group_size, least_depth);
}

/// Tiles from the largest to the smallest, with the other sizes that are fast on an H200. The larger ones
/// read less per product; the smaller ones are as deep as fits.
std::vector<Tiling> tilings_by_size(const LinearKind& kind) {
  std::vector<Tiling> large{{128, 64, 64, 4, 8}, {64, 64, 64, 4, 8}};
  if (kind.is_real())
    large = {{256, 64, 16, 16, 8}, {128, 128, 16, 8, 8}, {64, 128, 16, 8, 8}, {64, 64, 16, 4, 8}};
  if (kind.is_grouped()) large = {{128, 128, 128, 8, 8}, {128, 64, 128, 4, 8}, {64, 64, 128, 4, 8}};
  const std::int64_t k = kind.is_real() ? 32 : 128;
  for (const Tiling& small : {Tiling{32, 64, k, 4, 4}, Tiling{32, 32, k, 4, 4}, Tiling{16, 32, k, 4, 4}}) {
    large.push_back(small);
  }
  return large;
}

/// Whether the device has room for this tile if its slabs are as thin as possible.
bool has_room(Tiling tiling, const Linear& linear, const LinearKind& kind, const DeviceInfo& device) {
  tiling.k = slab_depth(linear, kind, least_depth);
  return tiling.invocations() <= most_invocations(device) &&
         shared_bytes(tiling, kind) <= device.max_shared_bytes;
}

/// The largest tile of which there are enough to fill a device.
Tiling default_tiling(const Linear& linear, const LinearKind& kind, const DeviceInfo& device) {
  const std::vector<Tiling> all = tilings_by_size(kind);
  for (const Tiling& tiling : all) {
    const std::int64_t tiles = div_up(linear.rows(), tiling.m) * div_up(linear.n, tiling.n);
    if (tiles >= tiles_to_fill_a_device && has_room(tiling, linear, kind, device)) return tiling;
  }
  return linear.rows() > 16 ? all[all.size() - 2] : all.back();
}

Tiling tuned_tiling(const ImplPoint& point, const Linear& linear, const Tiling& by_default,
                    const LinearKind& kind) {
  Tiling tiling;
  tiling.m = point.tuned("tile_m", by_default.m);
  tiling.n = point.tuned("tile_n", by_default.n);
  tiling.rows = point.tuned("rows", std::min(by_default.rows, tiling.m));
  tiling.columns = point.tuned("columns", std::min(by_default.columns, tiling.n));
  tiling.k = point.tuned("tile_k", slab_depth(linear, kind, by_default.k));
  return tiling;
}

Program build(const BuildContext& context, const LinearKind& kind, bool dot, const Images& images = {}) {
  const Linear linear = references::checked_linear(context.params);
  const Tiling tiling = tiling_of(context, linear, kind);
  const std::int64_t steps = steps_of(tiling, kind);
  const std::int64_t local = tiling.invocations();
  Program program;
  Dispatch product;
  product.label = "product";
  product.shader = "linear_tiled.comp";
  const ProductNeeds needs{.x_layout = layout_of_integers,
                           .x_words = 4,
                           .sums_of_groups = true,
                           .dot = dot,
                           .columns_of_workgroup = tiling.n,
                           .images = images};
  const Slots slots = add_operands(program, product, context, kind, needs);
  add_images(product, context, needs);
  const std::int64_t part_steps = steps_of_part(tiling, linear, kind);
  product.defines.push_back({"STEPS_AT_ONCE", std::to_string(steps_at_once(part_steps))});
  const auto loads = [local](std::int64_t quads) { return div_up(quads, local); };
  const std::int64_t words_of_block = is_int4(kind.w) ? 2 : 1;
  const std::int64_t steps_of_block = kind.is_real() ? 4 * words_of_block : words_of_block;
  const std::int64_t loads_of_x = tiling.m / 4 * steps;  // read as rows or as blocks
  set_constant(product, "x_loads", loads(loads_of_x));
  set_constant(product, "w_loads", loads(tiling.n / 4 * steps / steps_of_block));
  if (kind.is_grouped()) set_constant(product, "part_steps", part_steps);
  const std::int64_t workgroups = div_up(slots.all, tiling.m) * needs.tiles_n(linear.n);
  add_tiling(product, tiling, kind, workgroups, context.device);
  program.dispatches.push_back(std::move(product));
  return program;
}

std::optional<std::string> invalid_reason(const ImplPoint& point, const LinearKind& kind) {
  if (auto reason = linear_invalid_reason(point, kind, layout_of_integers)) return reason;
  if (!kind.is_grouped()) return std::nullopt;
  const std::int64_t group_size = point.params.integer("group_size");
  const std::int64_t k = tuned_tiling(point, references::checked_linear(point.params), {}, kind).k;
  if (k > deepest_slab) {
    return fmt::format("no slab of at most {} values holds whole groups of {} or divides one", deepest_slab,
                       group_size);
  }
  if (fits_groups(k, group_size)) return std::nullopt;
  return fmt::format("slabs of {} values neither hold whole groups of {} nor divide one", k, group_size);
}

std::optional<std::string> unsupported_reason(const BuildContext& context, const LinearKind& kind) {
  if (auto reason = weight_texture_unsupported_reason(context, kind.w)) return reason;
  const Linear linear = references::checked_linear(context.params);
  return tiling_unsupported_reason(tiling_of(context, linear, kind), linear, kind, context.device);
}

/// Consecutive roundings in an element.
double unit_error(const BuildContext& context, const LinearKind& kind) {
  const Linear linear = references::checked_linear(context.params);
  // Conversion, product, a sum for each group; scale, bias, requantization.
  if (kind.is_grouped()) return gamma_of(linear.groups() + 5);
  // Scaled weight, product, a sum for each k; scale, bias.
  return gamma_of(linear.k + 4);
}

std::vector<Tunable> tunables(const LinearKind& kind) {
  std::vector<Tunable> tunables = tiling_tunables(kind);
  tunables.push_back(weights_tunable());
  return tunables;
}

}  // namespace

/// Slabs whose depth no case sets are halved until they fit the device's shared memory.
Tiling tiling_of(const BuildContext& context, const Linear& linear, const LinearKind& kind) {
  Tiling by_default = default_tiling(linear, kind, context.device);
  Tiling tiling = tuned_tiling(context, linear, by_default, kind);
  while (by_default.k > least_depth && shared_bytes(tiling, kind) > context.device.max_shared_bytes) {
    by_default.k /= 2;
    tiling = tuned_tiling(context, linear, by_default, kind);
  }
  return tiling;
}

std::optional<std::string> tiling_unsupported_reason(const Tiling& tiling, const Linear& linear,
                                                     const LinearKind& kind, const DeviceInfo& device) {
  if (tiling.invocations() > most_invocations(device)) {
    return fmt::format(
        "tiles of {} x {}, {} x {} per invocation, need workgroups of {} invocations, the device allows {}",
        tiling.m, tiling.n, tiling.rows, tiling.columns, tiling.invocations(), most_invocations(device));
  }
  if (auto reason = loops_unsupported_reason(turns_of(tiling, linear, kind), device)) return reason;
  const std::int64_t needed = shared_bytes(tiling, kind);
  if (needed <= device.max_shared_bytes) return std::nullopt;
  return fmt::format("tiles of {} x {} x {} need {} bytes of shared memory, maxComputeSharedMemorySize is {}",
                     tiling.m, tiling.n, tiling.k, needed, device.max_shared_bytes);
}

void add_tiling(Dispatch& product, const Tiling& tiling, const LinearKind& kind, std::int64_t workgroups,
                const DeviceInfo& device) {
  product.defines.push_back({"ROWS", std::to_string(tiling.rows)});
  product.defines.push_back({"COLUMN_QUADS", std::to_string(tiling.columns / 4)});
  product.defines.push_back({"SUMS_OF_INVOCATION", std::to_string(tiling.rows * tiling.columns / 4)});
  set_constant(product, "tile_m", tiling.m);
  set_constant(product, "tile_n", tiling.n);
  set_constant(product, "steps", steps_of(tiling, kind));
  const std::int64_t local = tiling.invocations();
  product.local_size = {static_cast<std::uint32_t>(local), 1, 1};
  product.workgroups = fold_grid(workgroups * local, product.local_size[0], device.max_workgroup_count[0]);
  product.shared_bytes = static_cast<std::uint32_t>(shared_bytes(tiling, kind));
}

std::vector<Tunable> tiling_tunables(const LinearKind& kind) {
  const std::vector<std::int64_t> depths = kind.is_real()
                                               ? std::vector<std::int64_t>{8, 16, 32}
                                               : std::vector<std::int64_t>{16, 32, 48, 64, 96, 128};
  return {
      {.name = "tile_m", .doc = "rows of a workgroup's tile", .allowed = {16, 32, 64, 128, 256}},
      {.name = "tile_n", .doc = "output channels of a workgroup's tile", .allowed = {16, 32, 64, 128, 256}},
      {.name = "tile_k", .doc = "values along K of a slab in shared memory", .allowed = depths},
      {.name = "rows", .doc = "rows per invocation", .allowed = {4, 8, 16}},
      {.name = "columns", .doc = "output channels per invocation", .allowed = {4, 8}}};
}

Program tiled_convolution(const BuildContext& context, const LinearKind& kind, const Images& images,
                          bool dot) {
  return build(context, kind, dot, images);
}

std::optional<std::string> tiled_convolution_unsupported_reason(const BuildContext& context,
                                                                const LinearKind& kind) {
  return unsupported_reason(context, kind);
}

Impl tiled_linear(std::string name, const LinearKind& kind, bool dot) {
  Impl impl{.name = std::move(name)};
  impl.summary = dot ? "tiles in shared memory, by the integer dot product" : "tiles in shared memory";
  if (dot) impl.needs = {Feature::DotProduct};
  impl.ceiling = dot ? Ceiling::Dot4x8 : Ceiling::Fp32;
  impl.tunables = tunables(kind);
  impl.build = [kind, dot](const BuildContext& context) { return build(context, kind, dot); };
  impl.invalid_reason = [kind](const ImplPoint& point) { return invalid_reason(point, kind); };
  impl.unsupported_reason = [kind](const BuildContext& context) { return unsupported_reason(context, kind); };
  impl.unit_error = [kind](const BuildContext& context) { return unit_error(context, kind); };
  return impl;
}

}  // namespace assay::ops
