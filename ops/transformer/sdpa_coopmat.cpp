#include "ops/common/grid.h"
#include "ops/common/shader_values.h"
#include "ops/common/unit_error.h"
#include "ops/linear/coopmat.h"
#include "ops/linear/coopmat_tiling.h"
#include "ops/transformer/sdpa.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string>
#include <utility>
#include <vector>

namespace assay::ops {
namespace {

using references::Sdpa;
using references::sdpa_params;

constexpr LinearKind halves{XKind::Real, WeightKind::Int8};  // the kind of product whose fragments are taken
constexpr std::int64_t values_of_unit = 8, bytes_of_unit = 16, quad = 4;
constexpr std::int64_t most_columns_of_head = 8;  // repetitions in shaders/common/unroll.glslh
// Workgroups that share keys: one per shader core keeps memory busy, and each subgroup has at least two
// tiles.
constexpr std::int64_t workgroups_of_core = 1, tiles_of_split = 2;
constexpr double error_of_half_weight = 0x1p-11;

struct AttentionTiling {
  bool plain = true;
  Fragment fragment{.m = 16, .n = 16, .k = 16};
  std::int64_t lanes = 16;       ///< of a subgroup
  std::int64_t width = 16;       ///< D
  std::int64_t subgroup_m = 16;  ///< queries of a subgroup, as asked for
  std::int64_t fragments_m = 1;
  std::int64_t keys = 32;
  std::int64_t subgroups = 4;
  bool shares_keys = false;  ///< subgroups compute the same queries, with other keys
  std::int64_t splits = 1;   ///< workgroups that share the keys of a query
  std::int64_t split_keys = 1;

  std::int64_t rows() const { return fragments_m * fragment.m; }  ///< queries of a subgroup
  std::int64_t rows_of_workgroup() const { return (shares_keys ? 1 : subgroups) * rows(); }
  std::int64_t lanes_of_row() const { return lanes / rows(); }
  std::int64_t invocations() const { return subgroups * lanes; }
  std::int64_t units_of_row() const { return width / values_of_unit; }
  std::int64_t tile_loads() const {
    return div_up(keys * units_of_row(), shares_keys ? lanes : invocations());
  }
  /// Tiles of k and of v, and the subgroups' areas: shaders/transformer/sdpa_coopmat.comp.
  std::int64_t pool_units() const {
    const std::int64_t pitch = keys < 32 ? 7 : keys / quad + 1;
    const std::int64_t area = rows() * pitch + rows() / quad;
    return (shares_keys ? subgroups : 1) * 2 * keys * (units_of_row() + 1) + subgroups * area;
  }
  /// And the numbers of tiles with NaN, in whole units.
  std::int64_t shared_bytes() const { return (pool_units() + div_up(subgroups, quad)) * bytes_of_unit; }
};

/// Twice as many where the tiles of long heads are used twice as often and yet enough workgroups are left.
std::int64_t subgroups_by_default(const BuildContext& context, const Sdpa& op,
                                  const AttentionTiling& tiling) {
  constexpr std::int64_t few = 4, many = 8;
  if (tiling.shares_keys || op.width <= 64) return few;
  const std::int64_t blocks = div_up(op.tokens * op.heads_of_group(), many * tiling.rows());
  return op.batch * op.kv_heads * blocks >= context.device.shader_cores_or_assumed() ? many : few;
}

/// An invocation stores eight weights of a row at once; subgroups that share keys join their sums in the
/// memory of their tiles; and only tiles of 32 keys leave room for sums behind the weights.
std::int64_t least_keys(const AttentionTiling& tiling) {
  const std::int64_t of_lanes = 8 * std::max<std::int64_t>(1, tiling.lanes_of_row());
  return tiling.shares_keys ? std::max({std::int64_t{16}, of_lanes, tiling.rows()})
                            : std::max<std::int64_t>(32, of_lanes);
}

std::int64_t keys_by_default(const AttentionTiling& tiling) {
  if (tiling.shares_keys) return least_keys(tiling);
  return tiling.width > 64 ? least_keys(tiling) : std::max<std::int64_t>(64, least_keys(tiling));
}

AttentionTiling tiling_of(const BuildContext& context) {
  const Sdpa op = sdpa_params(context.params);
  const std::optional<Fragment> matrices = fragment_of(context.device, halves, wanted_fragment(context));
  AttentionTiling tiling;
  tiling.plain = context.tuned("plain", matrices ? 0 : 1) != 0;
  if (matrices) tiling.fragment = *matrices;
  tiling.lanes = tiling.plain ? context.tuned("lanes", tiling.fragment.m) : context.device.subgroup_size;
  tiling.width = op.width;
  tiling.subgroup_m = context.tuned("subgroup_m", tiling.fragment.m);
  tiling.fragments_m = std::max<std::int64_t>(1, tiling.subgroup_m / tiling.fragment.m);
  const std::int64_t queries = op.tokens * op.heads_of_group();
  const std::int64_t splits = context.tuned("splits", 0);
  tiling.shares_keys = splits > 0 || queries <= tiling.fragment.m;
  tiling.keys = context.tuned("tile_keys", keys_by_default(tiling));
  tiling.subgroups = context.tuned("subgroups", subgroups_by_default(context, op, tiling));
  const auto is_too_large = [&] { return tiling.shared_bytes() > context.device.max_shared_bytes; };
  while (context.tuned("subgroups", 0) == 0 && tiling.subgroups > 1 && is_too_large()) tiling.subgroups /= 2;
  while (context.tuned("tile_keys", 0) == 0 && tiling.keys > least_keys(tiling) && is_too_large()) {
    tiling.keys /= 2;
  }
  if (!tiling.shares_keys) {
    tiling.split_keys = op.valid();
    return tiling;
  }
  const std::int64_t blocks = op.batch * op.kv_heads * div_up(queries, tiling.rows());
  const std::int64_t of_all = workgroups_of_core * context.device.shader_cores_or_assumed() / blocks;
  const std::int64_t keys_at_once = tiling.keys * tiling.subgroups;
  const std::int64_t least = tiles_of_split * keys_at_once;
  tiling.splits = splits > 0 ? splits : std::clamp<std::int64_t>(of_all, 1, div_up(op.valid(), least));
  tiling.splits = std::min(tiling.splits, most_splits_of_sdpa);
  // Whole tiles for all subgroups, and no empty workgroup.
  tiling.split_keys = div_up(div_up(op.valid(), tiling.splits), keys_at_once) * keys_at_once;
  tiling.splits = div_up(op.valid(), tiling.split_keys);
  return tiling;
}

void add_defines(Dispatch& dispatch, const AttentionTiling& tiling) {
  const Fragment& fragment = tiling.fragment;
  set_define(dispatch, "MATRICES", tiling.plain ? 0 : 1);
  if (!tiling.plain && fragment.extension == MatrixExtension::Khr) add_khr_matrices(dispatch.defines);
  set_define(dispatch, "FRAGMENT_M", fragment.m);
  set_define(dispatch, "FRAGMENT_N", fragment.n);
  set_define(dispatch, "FRAGMENT_K", fragment.k);
  set_define(dispatch, "ELEMENTS", tiling.plain ? 0 : fragment.m * fragment.n / tiling.lanes);
  set_define(dispatch, "FRAGMENTS_M", tiling.fragments_m);
  set_define(dispatch, "KEY_COLUMNS", tiling.keys / fragment.n);
  set_define(dispatch, "KEY_STEPS", tiling.keys / fragment.k);
  set_define(dispatch, "FRAGMENTS_OF_SCORES", tiling.fragments_m * (tiling.keys / fragment.n));
  set_define(dispatch, "HEAD_COLUMNS", tiling.width / fragment.n);
  set_define(dispatch, "HEAD_STEPS", tiling.width / fragment.k);
  set_define(dispatch, "SHARES_KEYS", tiling.shares_keys ? 1 : 0);
  set_define(dispatch, "SPLITS", tiling.splits > 1 ? 1 : 0);
  set_define(dispatch, "SUBGROUPS", tiling.subgroups);
  set_define(dispatch, "LANES_OF_ROW", tiling.lanes_of_row());
  set_define(dispatch, "UNITS_OF_ROW", tiling.units_of_row());
}

Program build(const BuildContext& context) {
  const Sdpa op = sdpa_params(context.params);
  const AttentionTiling tiling = tiling_of(context);
  Dispatch dispatch{.label = "sdpa", .shader = "sdpa_coopmat.comp"};
  add_attention(dispatch, op, log2_of_e);
  dispatch.defines = {{"MASKED", flag(op.masked)}};
  const std::int64_t blocks = div_up(op.tokens * op.heads_of_group(), tiling.rows_of_workgroup());
  const std::int64_t workgroups = op.batch * op.kv_heads * blocks * tiling.splits;
  dispatch.push.add(blocks).add(tiling.splits).add(tiling.split_keys).add(workgroups);
  add_defines(dispatch, tiling);
  set_constant(dispatch, "subgroup_lanes", tiling.lanes);
  set_constant(dispatch, "tile_loads", tiling.tile_loads());
  set_constant(dispatch, "pool_units", tiling.pool_units());
  dispatch.bindings = {Resource::tensor(0), Resource::tensor(1), Resource::tensor(2)};
  bind_mask(dispatch, context, op);
  Program program;
  const bool joins = tiling.splits > 1;
  const Resource y = joins ? add_parts(program, op, tiling.splits) : Resource::tensor(index_of_y(context));
  bind_at(dispatch, "Y_AT", y);
  const std::int64_t local = tiling.invocations();
  dispatch.local_size = {static_cast<std::uint32_t>(local), 1, 1};
  dispatch.workgroups =
      fold_grid(workgroups * local, dispatch.local_size[0], context.device.max_workgroup_count[0]);
  dispatch.shared_bytes = static_cast<std::uint32_t>(tiling.shared_bytes());
  if (!tiling.plain) demand_subgroup_size(dispatch, context.device);
  program.dispatches.push_back(std::move(dispatch));
  if (joins) program.dispatches.push_back(join_parts(context, op, tiling.splits, y));
  return program;
}

std::optional<std::string> invalid_reason(const ImplPoint& point) {
  if (auto reason = sdpa_invalid_reason(point)) return reason;
  const Sdpa op = sdpa_params(point.params);
  if (op.dtype != DType::F16) return "q is f32, which half floats would round: use f16 or another impl";
  if (op.q8) return "k and v are int8, which half floats would round when they are scaled";
  const std::int64_t columns = op.width / 16;
  if (op.width % 16 == 0 && columns <= most_columns_of_head &&
      (columns == 6 || power_of_two_from(columns) == columns)) {
    return std::nullopt;
  }
  return fmt::format("D is {}, but must be 16, 32, 64, 96 or 128", op.width);
}

std::optional<std::string> size_unsupported_reason(const AttentionTiling& tiling, const DeviceInfo& device) {
  const Fragment& fragment = tiling.fragment;
  const auto fits = [](std::int64_t whole, std::int64_t part) {
    const std::int64_t count = whole / part;
    return whole % part == 0 && count <= most_columns_of_head &&
           (count == 6 || std::has_single_bit(static_cast<std::uint64_t>(count)));
  };
  const bool heads = fits(tiling.width, fragment.k) && fits(tiling.width, fragment.n);
  const bool tiles = fits(tiling.keys, fragment.k) && fits(tiling.keys, fragment.n) && fragment.n <= 16;
  if (!heads || !tiles || tiling.fragments_m > 2 || tiling.fragments_m * fragment.m != tiling.subgroup_m) {
    return fmt::format(
        "fragments of {} x {} x {} do not fit in heads of {}, tiles of {} keys and {} queries of a subgroup",
        fragment.m, fragment.n, fragment.k, tiling.width, tiling.keys, tiling.subgroup_m);
  }
  const std::int64_t lanes = tiling.lanes_of_row();
  if (tiling.lanes != lanes * tiling.rows() || (lanes != 1 && lanes != 2 && lanes != 4)) {
    return fmt::format("{} invocations of a subgroup cannot share {} queries evenly", tiling.lanes,
                       tiling.rows());
  }
  if (tiling.keys < least_keys(tiling)) {
    return fmt::format(
        "tiles of {} keys are too small for {} queries of {} invocations: at least {} are needed",
        tiling.keys, tiling.rows(), tiling.lanes, least_keys(tiling));
  }
  return workgroup_unsupported_reason(tiling.invocations(), most_invocations(device));
}

std::optional<std::string> unsupported_reason(const BuildContext& context) {
  const DeviceInfo& device = context.device;
  const WantedFragment wanted = wanted_fragment(context);
  const bool names_matrices = wanted.matrices != WantedMatrices::Any;
  const bool needs_matrices = context.tuned("plain", names_matrices ? 0 : 1) == 0 || context.tune.empty();
  if (needs_matrices && !fragment_of(device, halves, wanted)) {
    return missing_matrices(device, halves, wanted);
  }
  const AttentionTiling tiling = tiling_of(context);
  if (auto reason = size_unsupported_reason(tiling, device)) return reason;
  if (!tiling.plain) {
    if (auto reason = subgroup_size_unsupported_reason(tiling.invocations(), device)) return reason;
  }
  if (tiling.shared_bytes() <= device.max_shared_bytes) return std::nullopt;
  return fmt::format(
      "tiles of {} queries and {} keys need {} bytes of shared memory, "
      "maxComputeSharedMemorySize is {}",
      tiling.rows_of_workgroup(), tiling.keys, tiling.shared_bytes(), device.max_shared_bytes);
}

/// Besides the weights' roundings to halves: those of a score, of exp(), one for each key of a subgroup in
/// both sums, a factor for each tile that raises the largest score, and those of joining sums.
double unit_error(const BuildContext& context) {
  const Sdpa op = sdpa_params(context.params);
  const AttentionTiling tiling = tiling_of(context);
  const std::int64_t sharing = tiling.shares_keys ? tiling.subgroups : 1;
  const std::int64_t tiles = div_up(tiling.split_keys, tiling.keys * sharing);
  const std::int64_t additions = tiles * tiling.keys + sharing + tiling.splits;
  const double of_scores = grown_error(op, gamma_of(op.width + 14) + 4 * float32_ulp);
  const double of_factors = 4 * static_cast<double>(tiles + tiling.splits + 3) * float32_ulp;
  return error_of_half_weight + 2 * (of_scores + of_factors + gamma_of(additions + 2 * tiles + 12)) +
         4 * float32_ulp;
}

std::vector<Tunable> tunables() {
  return {
      {.name = "tile_keys",
       .doc = "keys of a tile in shared memory; by default 32, 64 for D of 64 and less, or 16 where "
              "subgroups share keys",
       .allowed = {16, 32, 64}},
      {.name = "subgroup_m",
       .doc = "queries of a subgroup; by default those of a fragment",
       .allowed = {16, 32}},
      {.name = "subgroups",
       .doc = "subgroups of a workgroup; by default 4, or 8 for D above 64 and many queries",
       .allowed = {1, 2, 4, 8}},
      {.name = "splits",
       .max = most_splits_of_sdpa,
       .doc = "workgroups that share the keys of a query, and whose subgroups do; by default chosen where a "
              "head of the cache has no more queries than a fragment has rows"},
      {.name = "matrices",
       .max = 2,
       .doc =
           "extension of the cooperative matrices: 1: NV, 2: KHR; by default KHR where it has as large ones"},
      {.name = "plain", .min = 0, .max = 1, .doc = "1: plain code instead of cooperative matrices"},
      {.name = "lanes",
       .doc = "plain code: invocations that stand for a subgroup; by default one for each row of a fragment",
       .allowed = {16, 32, 64}}};
}

}  // namespace

bool has_matrices_for_sdpa(const BuildContext& context) {
  return !invalid_reason(context) && fragment_of(context.device, halves).has_value();
}

Impl coopmat_sdpa() {
  Impl impl{.name = "coopmat"};
  impl.summary = "one dispatch: subgroups multiply cooperative matrices of half floats";
  impl.ceiling = Ceiling::CoopFp16;
  impl.tunables = tunables();
  impl.build = build;
  impl.invalid_reason = invalid_reason;
  impl.unsupported_reason = unsupported_reason;
  impl.unit_error = unit_error;
  return impl;
}

}  // namespace assay::ops
