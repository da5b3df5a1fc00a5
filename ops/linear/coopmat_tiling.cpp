#include "ops/linear/coopmat_tiling.h"

#include "ops/common/cpu_loops.h"
#include "ops/common/grid.h"
#include "ops/linear/tensors.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>

namespace assay::ops {
namespace {

using references::Linear;

constexpr std::int64_t block_of_groups = 8;  // values: group sizes are multiples of it
constexpr std::int64_t values_of_unit = 32;  // int4 values in 16 bytes
constexpr std::int64_t tables_of_group = 2;  // where sums of groups are scaled: scales, and sums of weights
constexpr std::int64_t bytes_of_unit = CoopmatTiling::bytes_of_unit;

std::int64_t whole(std::int64_t value, std::int64_t of) {
  return div_up(value, of) * of;
}

/// Whether the kernel can use such fragments: whole units of 16 bytes in every direction, and as many
/// elements per invocation as shaders/common/unroll.glslh repeats.
bool is_usable(const CooperativeShape& shape, const LinearKind& kind, std::uint32_t lanes) {
  const DType factors = kind.is_real() ? DType::F16 : DType::I8;
  const DType sums = kind.is_real() ? DType::F32 : DType::I32;
  const std::uint32_t unit = kind.is_real() ? 8 : 16;
  const std::uint32_t all = shape.rows * shape.columns, elements = all / lanes;
  return shape.factors == factors && shape.sums == sums && !shape.saturates && shape.rows % 4 == 0 &&
         shape.columns % 4 == 0 && shape.depth > 0 && shape.depth % unit == 0 && all % lanes == 0 &&
         std::has_single_bit(elements) && elements >= 2 && elements <= 32;
}

/// Sums of groups are scaled in matrices of floats, which must be of a size that the extension lists, too.
bool scales_in_floats(const LinearKind& kind) {
  return kind.is_grouped() && !kind.is_real();
}

bool has_floats(const DeviceInfo& device, const CooperativeShape& like) {
  return std::ranges::any_of(device.cooperative_shapes, [&](const CooperativeShape& one) {
    return one.sums == DType::F32 && one.rows == like.rows && one.columns == like.columns &&
           one.extension == like.extension;
  });
}

/// Whether a shape has the sizes that a case tunes.
bool is_of_size(const CooperativeShape& shape, const WantedFragment& wanted) {
  const auto fits = [](std::int64_t tuned, std::uint32_t size) { return tuned == 0 || tuned == size; };
  return fits(wanted.m, shape.rows) && fits(wanted.n, shape.columns) && fits(wanted.k, shape.depth);
}

/// The fragment of plain code, which multiplies any.
Fragment plain_fragment(const LinearKind& kind, const WantedFragment& wanted) {
  const auto size = [](std::int64_t tuned, std::int64_t usual) { return tuned == 0 ? usual : tuned; };
  return {size(wanted.m, 16), size(wanted.n, 16), size(wanted.k, kind.is_real() ? 16 : 32)};
}

std::int64_t products_of(const Fragment& fragment) {
  return fragment.m * fragment.n * fragment.k;
}

/// The tiling's sizes that a case may tune.
struct Sizes {
  std::int64_t m = 0, n = 0, k = 0, subgroup_m = 0, subgroup_n = 0;
  std::int64_t subgroups_k = 1, splits = 1;
};

// The workgroups that keep a large device busy, and the most that run at a time where two fit on a shader
// core.
constexpr std::int64_t busy_workgroups = 96, workgroups_at_a_time = 2 * std::int64_t{assumed_shader_cores};
constexpr std::int64_t deep = 4096;  // K that is worth a second pass
constexpr std::int64_t rows_of_a_fragment = 16;
constexpr std::int64_t most_fragments = CoopmatTiling::most_fragments;
constexpr std::int64_t most_fragments_of_a_side = CoopmatTiling::most_fragments_of_a_side;

std::int64_t tiles_of(const Linear& linear, std::int64_t m, std::int64_t n) {
  return div_up(linear.rows(), m) * div_up(linear.n, n);
}

/// Few rows fill one fragment: the weights are read once, by as many workgroups as keep the memory busy.
/// Where there are not enough channels for that, workgroups share K.
bool has_few_rows(const Linear& linear) {
  return linear.rows() <= rows_of_a_fragment;
}

Sizes integer_sizes_of_few_rows(const Linear& linear, const LinearKind& kind) {
  if (has_many_channels(linear)) return {16, 64, 256, 16, 16, 2};
  return {16, 32, 256, 16, 16, kind.is_grouped() ? 2 : 4, 2};
}

Sizes real_sizes_of_few_rows(const Linear& linear, bool int4) {
  if (!has_many_channels(linear)) return {16, 64, 256, 16, 16, 2, 2};
  return int4 ? Sizes{16, 64, 64, 16, 16, 1, 4} : Sizes{16, 64, 128, 16, 32, 4};
}

/// The sizes that are fast on an H200 (shaders/NOTES.md). Large tiles read the least per product; where there
/// are too few of them, smaller ones are better, whose subgroups share K, or two workgroups per tile.
Sizes integer_sizes(const Linear& linear, const LinearKind& kind, Layout x) {
  if (has_few_rows(linear)) return integer_sizes_of_few_rows(linear, kind);
  const bool grouped = kind.is_grouped();
  Sizes large = grouped ? Sizes{128, 128, 128, 32, 64} : Sizes{128, 128, 128, 64, 32};
  const Sizes shared_k{128, 128, 128, 64, 64, 2};
  const std::int64_t large_tiles = tiles_of(linear, large.m, large.n);
  const std::int64_t tall_tiles = tiles_of(linear, 256, 128);
  const bool fits_tall =
      2 * tall_tiles <= large_tiles + large_tiles / 8;  // few of their rows are past the end
  // In other layouts, whose rows are loaded in another order, tall tiles are slower.
  const bool is_tall = kind.x == XKind::Int8 && x == Layout::P4H4W && fits_tall;
  if (is_tall && !grouped && tall_tiles >= busy_workgroups) {
    return {256, 128, 64, 64, 64};
  }
  if (kind.x == XKind::Quantized && large_tiles >= busy_workgroups) return shared_k;
  if (large_tiles >= 2 * busy_workgroups && !grouped) return shared_k;
  if (large_tiles >= busy_workgroups) return large;
  if (tiles_of(linear, 32, 32) <= workgroups_at_a_time) return {32, 32, 256, 16, 32, 4};
  if (tiles_of(linear, 64, 64) <= workgroups_at_a_time / 2) return {64, 64, 256, 32, 32, 4};
  if (linear.k < deep) return {64, 64, 128, 32, 32};
  large.splits = 2;
  return large;
}

Sizes real_sizes(const Linear& linear, bool int4) {
  if (has_few_rows(linear)) return real_sizes_of_few_rows(linear, int4);
  const std::int64_t large_tiles = tiles_of(linear, 128, 128);
  const bool run_at_once = large_tiles >= 2 * busy_workgroups && large_tiles <= workgroups_at_a_time;
  if (int4 && run_at_once) return {128, 128, 32, 64, 64};
  if (large_tiles >= busy_workgroups) return {128, 128, 64, 64, 32};
  if (large_tiles >= busy_workgroups / 2) return {128, 128, 64, 64, 32, 1, 2};
  const std::int64_t splits = workgroups_at_a_time / tiles_of(linear, 64, 64);
  return {64, 64, 64, 32, 32, 1, std::clamp(splits, std::int64_t{1}, std::int64_t{4})};
}

/// For w that is not packed, whose products no second pass adds.
Sizes sizes_by_k(const Linear& linear) {
  if (tiles_of(linear, 128, 128) >= busy_workgroups) return {128, 128, 64, 64, 32};
  return {64, 64, 64, 32, 32};
}

Sizes sizes_for(const BuildContext& context, const Linear& linear, const LinearKind& kind, bool w_by_k) {
  Sizes sizes;
  if (w_by_k) {
    sizes = sizes_by_k(linear);
  } else if (kind.is_real()) {
    sizes = real_sizes(linear, kind.is_real_int4());
  } else {
    sizes = integer_sizes(linear, kind, tensor_named(context, "x").physical.form().layout);
  }
  sizes.k = std::min(sizes.k, std::max(power_of_two_from(linear.k), std::int64_t{32}));
  return sizes;
}

Slab slab_for(const Linear& linear, const LinearKind& kind, const Fragment& fragment, std::int64_t wanted) {
  if (is_int4(kind.w)) return slab_of_groups(linear.group_size, std::lcm(fragment.k, values_of_unit), wanted);
  const std::int64_t unit =
      std::lcm(std::max(fragment.k, std::int64_t{1}), bytes_of_unit);  // int8: 16 bytes of w
  const std::int64_t depth = std::max(wanted / unit, std::int64_t{1}) * unit;
  return {.depth = depth, .padded = depth};
}

Sizes plain_sizes(const Fragment& fragment) {
  return {2 * fragment.m, 2 * fragment.n, 2 * fragment.k, fragment.m, fragment.n};
}

/// Sizes depend on each other: for a case that tunes one of them, the others have fixed defaults, whatever
/// the shape.
bool tunes_sizes(const BuildContext& context) {
  const auto tunes = [&context](const char* name) { return context.tuned(name, 0) != 0; };
  return tunes("tile_m") || tunes("tile_n") || tunes("tile_k") || tunes("subgroup_m") || tunes("subgroup_n");
}

/// Halves the larger of two counts.
void halve_larger(std::int64_t& one, std::int64_t& other) {
  (one >= other ? one : other) /= 2;
}

/// The most subgroups of a workgroup, by its invocations and by the shared memory in which each stages its
/// sums.
std::int64_t most_subgroups(const Fragment& fragment, std::int64_t staged, std::int64_t lanes,
                            const DeviceInfo& device) {
  const std::int64_t bytes = fragment.m * (staged * fragment.n / 4 + 1) * bytes_of_unit;
  const std::int64_t by_invocations =
      std::min(device.max_workgroup_invocations, device.max_workgroup_size[0]) / lanes;
  return std::max(std::min(by_invocations, device.max_shared_bytes / bytes), std::int64_t{1});
}

/// Sizes for any fragment and subgroup: those that are fast with fragments of 16 x 16 and subgroups of 32,
/// with parts of a tile that are whole fragments, few enough for the registers, and no more subgroups than a
/// workgroup can have. All sizes are powers of two.
Sizes fitted(Sizes sizes, const Fragment& fragment, std::int64_t lanes, const DeviceInfo& device) {
  std::int64_t fragments_m =
      std::clamp(sizes.subgroup_m / fragment.m, std::int64_t{1}, most_fragments_of_a_side);
  std::int64_t fragments_n =
      std::clamp(sizes.subgroup_n / fragment.n, std::int64_t{1}, most_fragments_of_a_side);
  while (fragments_m * fragments_n > most_fragments) halve_larger(fragments_m, fragments_n);
  sizes.subgroup_m = fragments_m * fragment.m;
  sizes.subgroup_n = fragments_n * fragment.n;
  std::int64_t parts_m = std::max(sizes.m / sizes.subgroup_m, std::int64_t{1});
  std::int64_t parts_n = std::max(sizes.n / sizes.subgroup_n, std::int64_t{1});
  const std::int64_t most = most_subgroups(fragment, CoopmatTiling::staged_of(fragments_n), lanes, device);
  while (sizes.subgroups_k > 1 && parts_m * parts_n * sizes.subgroups_k > most) sizes.subgroups_k /= 2;
  while (parts_m * parts_n > most) halve_larger(parts_m, parts_n);
  sizes.m = parts_m * sizes.subgroup_m;
  sizes.n = parts_n * sizes.subgroup_n;
  return sizes;
}

/// Fills in the sizes that a case does not tune.
Sizes sizes_of(const BuildContext& context, const Linear& linear, const LinearKind& kind,
               const CoopmatTiling& tiling) {
  if (tiling.plain) return plain_sizes(tiling.fragment);
  if (tunes_sizes(context)) return {128, 128, kind.is_real() ? 64 : 128, 32, 32};
  return fitted(sizes_for(context, linear, kind, tiling.w_by_k), tiling.fragment, tiling.lanes,
                context.device);
}

/// Uses the tuned sizes, else these.
void set_sizes(CoopmatTiling& tiling, const BuildContext& context, const Linear& linear,
               const LinearKind& kind, const Sizes& sizes) {
  tiling.m = context.tuned("tile_m", sizes.m);
  tiling.n = context.tuned("tile_n", sizes.n);
  tiling.subgroup_m = context.tuned("subgroup_m", std::min(sizes.subgroup_m, tiling.m));
  tiling.subgroup_n = context.tuned("subgroup_n", std::min(sizes.subgroup_n, tiling.n));
  tiling.slab = slab_for(linear, kind, tiling.fragment, context.tuned("tile_k", sizes.k));
  tiling.all_slabs = div_up(linear.k, tiling.slab.depth);
  tiling.subgroups_k = context.tuned("subgroups_k", std::gcd(sizes.subgroups_k, tiling.parts_of_slab()));
  tiling.stages = context.tuned("stages", 1);
  tiling.splits = context.tuned("splits", sizes.splits);
  tiling.splits = div_up(tiling.all_slabs, tiling.split_slabs());  // no split is without a slab
}

CoopmatTiling tiling_of(const BuildContext& context, const Linear& linear, const LinearKind& kind,
                        bool w_by_k) {
  const WantedFragment wanted = wanted_fragment(context);
  const std::optional<Fragment> matrices = fragment_of(context.device, kind, wanted);
  CoopmatTiling tiling;
  tiling.plain = context.tuned("plain", matrices ? 0 : 1) != 0;
  tiling.fragment = matrices.value_or(plain_fragment(kind, wanted));
  tiling.lanes = tiling.plain ? context.tuned("lanes", 1) : context.device.subgroup_size;
  tiling.halves = kind.is_real();
  tiling.int4 = is_int4(kind.w);
  tiling.w_by_k = w_by_k;
  Sizes sizes = sizes_of(context, linear, kind, tiling);
  set_sizes(tiling, context, linear, kind, sizes);
  // Slabs whose size no case sets are halved until they fit the device's shared memory.
  while (sizes.k > tiling.fragment.k && tiling.shared_bytes() > context.device.max_shared_bytes) {
    sizes.k /= 2;
    set_sizes(tiling, context, linear, kind, sizes);
  }
  return tiling;
}

}  // namespace

Slab slab_of_groups(std::int64_t group_size, std::int64_t unit, std::int64_t wanted) {
  if (group_size % unit == 0 && group_size <= wanted) {
    const std::int64_t groups = wanted / group_size;
    return {.depth = groups * group_size, .padded = groups * group_size, .groups = groups};
  }
  const std::int64_t blocks = group_size / block_of_groups;
  std::int64_t parts = 1;
  while (parts < blocks && (blocks % parts != 0 || whole(group_size / parts, unit) > wanted)) ++parts;
  const std::int64_t depth = group_size / parts;
  return {.depth = depth, .padded = whole(depth, unit), .slabs_of_group = parts};
}

std::int64_t CoopmatTiling::x_loads() const {
  return div_up(m * chunks(), invocations());
}

std::int64_t CoopmatTiling::w_loads() const {
  return div_up(n * chunks() / chunks_of_unit(), invocations());
}

std::int64_t CoopmatTiling::table_loads() const {
  return scales_groups() ? div_up(slab.groups * (n / 4), invocations()) : 0;
}

std::int64_t CoopmatTiling::parts_of_slab() const {
  return scales_groups() ? slab.groups : slab.padded / fragment.k;
}

std::int64_t CoopmatTiling::split_slabs() const {
  return whole(div_up(all_slabs, splits), scales_groups() ? slab.slabs_of_group : 1);
}

std::int64_t CoopmatTiling::shared_bytes() const {
  const std::int64_t tables = scales_groups() ? tables_of_group * slab.groups * (n / 4) : 0;
  const std::int64_t zero_points = scales_groups() ? m / 4 : 0;  // zero points of the rows of x
  const std::int64_t of_w = w_by_k ? slab.padded * (n / 8 + 1) : n * (chunks() + 1);
  const std::int64_t slabs = stages * (m * (chunks() + 1) + of_w + tables) + zero_points;
  const std::int64_t sums = subgroups() * fragment.m * (staged() * fragment.n / 4 + 1);
  return std::max(slabs, sums) * bytes_of_unit;
}

// Counted loop by loop as in shaders/linear/linear_coopmat.comp and common/matrices.glslh. Loops of four
// iterations that drivers unroll are not counted, except those that store y.
std::int64_t CoopmatTiling::plain_turns() const {
  const std::int64_t fragments = fragments_m() * fragments_n();
  const std::int64_t by_elements = turns(fragment.m * fragment.n);
  const std::int64_t by_rows = turns(fragment.m, turns(fragment.n));

  const std::int64_t loading = turns(x_loads()) + turns(x_loads(), turns(4)) + 2 * turns(w_loads()) +
                               turns(w_loads(), turns(chunks_of_unit())) + 2 * turns(table_loads());
  const std::int64_t product = turns(fragment.m, turns(fragment.n / 4));
  const std::int64_t step =
      fragments_m() * turns(fragment.m) + fragments_n() * turns(fragment.n) + fragments * product;
  const std::int64_t groups_of_part = scales_groups() ? slab.groups / subgroups_k : 1;
  const std::int64_t steps = slab.padded / fragment.k / subgroups_k;
  const std::int64_t of_slab = loading + 2 * turns(groups_of_part) + steps * (1 + step);

  const std::int64_t of_group =
      fragments_n() * tables_of_group * by_rows + fragments * (by_rows + 2 * by_elements);
  const std::int64_t slabs = split_slabs();
  const std::int64_t groups = scales_groups() ? slabs * groups_of_part / slab.slabs_of_group : 0;

  const std::int64_t of_zeros = turns(div_up(m / 4, invocations()), turns(4)) + fragments_m() * by_rows;
  const std::int64_t clearing = fragments * by_elements;
  const std::int64_t beginning = loading + clearing + (scales_groups() ? clearing + of_zeros : 0);
  const std::int64_t of_quad = turns(subgroups_k) + turns(4);
  const std::int64_t of_staged =
      turns(staged() * fragment.n / 4, turns(div_up(fragment.m, subgroups_k), of_quad));
  const std::int64_t ending = fragments * by_rows + fragments / staged() * of_staged;
  return beginning + turns(slabs, of_slab) + groups * of_group + ending;
}

std::optional<Fragment> fragment_of(const DeviceInfo& device, const LinearKind& kind,
                                    const WantedFragment& wanted) {
  const bool computes = device.has(kind.is_real() ? Feature::Float16 : Feature::Int8);
  if (!computes) return std::nullopt;
  std::optional<Fragment> best;
  for (const CooperativeShape& shape : device.cooperative_shapes) {
    const bool is_khr = shape.extension == MatrixExtension::Khr;
    const bool is_wanted =
        (wanted.matrices == WantedMatrices::Any || (wanted.matrices == WantedMatrices::Khr) == is_khr) &&
        is_of_size(shape, wanted);
    const bool is_there = device.has(feature_of(shape.extension));
    if (!is_wanted || !is_there || !is_usable(shape, kind, device.subgroup_size)) continue;
    if (scales_in_floats(kind) && !has_floats(device, shape)) continue;
    const Fragment fragment{shape.rows, shape.columns, shape.depth, shape.extension};
    const bool is_better = !best || products_of(fragment) > products_of(*best) ||
                           (is_khr && products_of(fragment) == products_of(*best));
    if (is_better) best = fragment;
  }
  return best;
}

Tune with_sizes(const Tune& of_case, std::span<const char* const> sizes, Tune fast) {
  if (std::ranges::any_of(sizes, [&](const char* name) { return of_case.contains(name); })) return of_case;
  fast.insert(of_case.begin(), of_case.end());
  return fast;
}

Tune fitted_tune(Tune tune, const DeviceInfo& device, const WantedFragment& wanted) {
  const std::optional<Fragment> fragment = fragment_of(device, {XKind::Int8, WeightKind::Int8}, wanted);
  if (!fragment) return tune;
  Sizes sizes = fitted({.m = tune.at("tile_m"),
                        .n = tune.at("tile_n"),
                        .k = tune.at("tile_k"),
                        .subgroup_m = tune.at("subgroup_m"),
                        .subgroup_n = tune.at("subgroup_n"),
                        .subgroups_k = tune.at("subgroups_k")},
                       *fragment, device.subgroup_size, device);
  const auto slab_bytes = [&] { return (sizes.m + sizes.n) * (sizes.k / bytes_of_unit + 1) * bytes_of_unit; };
  while (sizes.k > 2 * fragment->k && slab_bytes() > device.max_shared_bytes)
    sizes.k = power_of_two_from(sizes.k) / 2;
  sizes.subgroups_k = std::gcd(sizes.subgroups_k, sizes.k / fragment->k);
  tune["tile_m"] = sizes.m;
  tune["tile_n"] = sizes.n;
  tune["tile_k"] = sizes.k;
  tune["subgroup_m"] = sizes.subgroup_m;
  tune["subgroup_n"] = sizes.subgroup_n;
  tune["subgroups_k"] = sizes.subgroups_k;
  return tune;
}

bool has_many_channels(const Linear& linear) {
  return div_up(linear.n, 64) >= std::int64_t{assumed_shader_cores};
}

WantedFragment wanted_fragment(const ImplPoint& point) {
  return {.matrices = static_cast<WantedMatrices>(point.tuned("matrices", 0)),
          .m = point.tuned("fragment_m", 0),
          .n = point.tuned("fragment_n", 0),
          .k = point.tuned("fragment_k", 0)};
}

CoopmatTiling coopmat_tiling(const BuildContext& context, const LinearKind& kind) {
  return tiling_of(context, references::checked_linear(context.params), kind, false);
}

CoopmatTiling coopmat_tiling_by_k(const BuildContext& context, const Linear& linear) {
  return tiling_of(context, linear, {XKind::Real, WeightKind::Int8}, true);
}

}  // namespace assay::ops
