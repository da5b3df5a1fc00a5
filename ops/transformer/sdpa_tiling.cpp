#include "ops/transformer/sdpa_tiling.h"

#include "ops/common/grid.h"
#include "ops/common/shader_values.h"
#include "ops/transformer/sdpa.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace assay::ops {
namespace {

using references::Sdpa;
using references::sdpa_params;

constexpr std::int64_t bytes_of_unit = 16, quad = 4, values_of_unit = 8;
constexpr std::int64_t lanes_with_places = 32;  // shaders/common/placed_matrices.glslh
// Of sdpa_decode.comp: queries and keys of a product, and the least values of a head that invocations share.
constexpr std::int64_t queries_of_decode = 8, keys_of_decode = 16, width_of_decode = 32;
// So few keys are left to one workgroup, with a subgroup for each tile: nothing is joined.
constexpr std::int64_t most_keys_of_one_workgroup = 128;
constexpr std::int64_t few_subgroups = 4, many_subgroups = 8;
// Of few subgroups, on a shader core: registers have no room for more.
constexpr std::int64_t workgroups_at_once = 2;

std::int64_t queries_of_head(const Sdpa& op) {
  return op.tokens * op.heads_of_group();
}

/// Whether the device's matrices are such as sdpa_registers.comp and sdpa_decode.comp need.
bool has_places(const AttentionTiling& tiling, const DeviceInfo& device) {
  const Fragment& fragment = tiling.fragment;
  const bool is_known =
      tiling.plain || (device.places_matrices() && fragment.extension == MatrixExtension::Khr);
  return is_known && fragment.m == 16 && fragment.n == 16 && fragment.k == 16;
}

bool in_registers_by_default(const BuildContext& context, const Sdpa& op, const AttentionTiling& tiling) {
  const bool decodes = queries_of_head(op) <= queries_of_decode && op.width % width_of_decode == 0 &&
                       context.tuned("tile_keys", keys_of_decode) == keys_of_decode;
  const bool fits = tiling.fragments_m == 1 && (!tiling.shares_keys || decodes);
  return !tiling.plain && fits && has_places(tiling, context.device);
}

std::int64_t cores_for_block(const BuildContext& context, const Sdpa& op, const AttentionTiling& tiling) {
  const std::int64_t blocks = op.batch * op.kv_heads * div_up(queries_of_head(op), tiling.rows());
  return std::max<std::int64_t>(1, context.device.shader_cores_or_assumed() / blocks);
}

/// Of many queries, whose subgroups share tiles of keys.
std::int64_t workgroups_of(const Sdpa& op, const AttentionTiling& tiling, std::int64_t subgroups) {
  return op.batch * op.kv_heads * div_up(queries_of_head(op), subgroups * tiling.rows());
}

/// Twice as many
/// - where a single workgroup reads all keys, or enough of them for a tile each on every shader core: fewer
///   parts are joined then
/// - where the tiles of long heads are used twice as often and yet enough workgroups are left, unless all of
///   those of few subgroups begin at once, two on a shader core, of which one sees many keys and one few
std::int64_t subgroups_by_default(const BuildContext& context, const Sdpa& op,
                                  const AttentionTiling& tiling) {
  if (tiling.decodes()) {
    const std::int64_t enough = cores_for_block(context, op, tiling) * many_subgroups * keys_of_decode;
    const bool is_alone = op.valid() <= most_keys_of_one_workgroup;
    return is_alone || op.valid() >= enough ? many_subgroups : few_subgroups;
  }
  if (tiling.shares_keys || op.width <= 64) return few_subgroups;
  const std::int64_t cores = context.device.shader_cores_or_assumed();
  const bool begin_at_once = workgroups_of(op, tiling, few_subgroups) <= workgroups_at_once * cores;
  if (tiling.in_registers && op.causal && begin_at_once) return few_subgroups;
  return 4 * workgroups_of(op, tiling, many_subgroups) >= 3 * cores ? many_subgroups : few_subgroups;
}

/// Where scores go through shared memory, an invocation stores eight weights of a row at once; subgroups that
/// share keys join their sums in the memory of their tiles; and only tiles of 32 keys leave room for sums
/// behind the weights.
std::int64_t least_keys(const AttentionTiling& tiling) {
  if (tiling.in_registers) return tiling.fragment.n;
  const std::int64_t of_lanes = 8 * std::max<std::int64_t>(1, tiling.lanes_of_row());
  return tiling.shares_keys ? std::max({std::int64_t{16}, of_lanes, tiling.rows()})
                            : std::max<std::int64_t>(32, of_lanes);
}

std::int64_t keys_by_default(const AttentionTiling& tiling) {
  if (tiling.decodes()) return keys_of_decode;
  // Tiles of 64 keys leave too few registers for two workgroups of long heads.
  if (tiling.in_registers) return tiling.width > 64 && tiling.subgroups <= few_subgroups ? 32 : 64;
  if (tiling.shares_keys) return least_keys(tiling);
  return tiling.width > 64 ? least_keys(tiling) : std::max<std::int64_t>(64, least_keys(tiling));
}

/// One workgroup for each shader core keeps memory busy, with at least two tiles for each subgroup. Where
/// tiles need no shared memory, one tile is enough, and there are two workgroups where their registers have
/// room: those of few subgroups, and with two tiles each those of many with short heads.
std::int64_t splits_by_default(const BuildContext& context, const Sdpa& op, const AttentionTiling& tiling) {
  if (tiling.decodes() && op.valid() <= most_keys_of_one_workgroup) return 1;
  const std::int64_t cores = cores_for_block(context, op, tiling);
  const auto at_most = [&](std::int64_t wanted, std::int64_t tiles) {
    return std::clamp<std::int64_t>(wanted, 1, div_up(op.valid(), tiles * tiling.keys * tiling.subgroups));
  };
  if (!tiling.decodes()) return at_most(cores, 2);
  if (tiling.subgroups <= few_subgroups) return at_most(2 * cores, 1);
  return std::max(at_most(cores, 1), tiling.width <= 64 ? at_most(2 * cores, 2) : 1);
}

/// It binds q, k, v, y, the parts, the counters, and a mask. In a chain no dispatch may read what it writes
/// (docs/trust.md).
bool joins_itself_by_default(const BuildContext& context, const Sdpa& op, const AttentionTiling& tiling) {
  const std::uint32_t buffers = op.masked ? 7 : 6;
  return tiling.decodes() && !context.is_node_of_chain &&
         buffers <= context.device.max_storage_buffers_per_stage;
}

std::int64_t first_turn_by_default(const BuildContext& context, const Sdpa& op,
                                   const AttentionTiling& tiling) {
  const std::int64_t workgroups = workgroups_of(op, tiling, tiling.subgroups);
  const std::int64_t cores = context.device.shader_cores_or_assumed();
  const bool share_cores = tiling.subgroups == few_subgroups && workgroups <= workgroups_at_once * cores;
  return share_cores ? std::min(cores, workgroups) : workgroups;
}

void set_splits(const BuildContext& context, const Sdpa& op, AttentionTiling& tiling) {
  tiling.split_keys = op.valid();
  if (!tiling.shares_keys) return;
  const std::int64_t tuned = context.tuned("splits", 0);
  tiling.splits = std::min(tuned > 0 ? tuned : splits_by_default(context, op, tiling), most_splits_of_sdpa);
  // Whole tiles for all subgroups, and no empty workgroup.
  const std::int64_t keys_at_once = tiling.keys * tiling.subgroups;
  tiling.split_keys = div_up(div_up(op.valid(), tiling.splits), keys_at_once) * keys_at_once;
  tiling.splits = div_up(op.valid(), tiling.split_keys);
}

/// Halves what no case tunes until the tiles fit: first what takes memory.
void fit_shared_memory(const BuildContext& context, AttentionTiling& tiling) {
  const auto is_too_large = [&] { return tiling.shared_bytes() > context.device.max_shared_bytes; };
  const bool tunes_keys = context.tuned("tile_keys", 0) != 0;
  const bool tunes_subgroups = context.tuned("subgroups", 0) != 0;
  const auto halve_keys = [&] {
    while (!tunes_keys && tiling.keys > least_keys(tiling) && is_too_large()) tiling.keys /= 2;
  };
  if (tiling.in_registers && !tiling.shares_keys) halve_keys();  // subgroups share all of it
  while (!tunes_subgroups && tiling.subgroups > 1 && is_too_large()) tiling.subgroups /= 2;
  halve_keys();
}

std::optional<std::string> registers_unsupported_reason(const AttentionTiling& tiling,
                                                        const DeviceInfo& device) {
  if (!has_places(tiling, device) || tiling.lanes != lanes_with_places) {
    return "scores stay in registers only where subgroups of 32 invocations hold the elements of "
           "VK_KHR_cooperative_matrix's matrices of halves as NVIDIA's do";
  }
  if (tiling.fragments_m != 1) return "scores stay in registers only with 16 queries of a subgroup";
  if (tiling.shares_keys && tiling.keys != keys_of_decode) {
    return fmt::format("subgroups that share keys have tiles of {} keys where scores stay in registers",
                       keys_of_decode);
  }
  if (tiling.shares_keys && tiling.width % width_of_decode != 0) {
    return fmt::format(
        "D is {}, but must be a multiple of {} where subgroups share keys and scores stay in registers",
        tiling.width, width_of_decode);
  }
  return std::nullopt;
}

std::optional<std::string> lanes_unsupported_reason(const AttentionTiling& tiling) {
  const std::int64_t lanes = tiling.lanes_of_row();
  if (tiling.lanes != lanes * tiling.rows() || (lanes != 1 && lanes != 2 && lanes != 4)) {
    return fmt::format("{} invocations of a subgroup cannot share {} queries evenly", tiling.lanes,
                       tiling.rows());
  }
  if (tiling.keys >= least_keys(tiling)) return std::nullopt;
  return fmt::format(
      "tiles of {} keys are too small for {} queries of {} invocations: at least {} are needed", tiling.keys,
      tiling.rows(), tiling.lanes, least_keys(tiling));
}

}  // namespace

std::int64_t AttentionTiling::rows() const {
  return decodes() ? queries_of_decode : fragments_m * fragment.m;
}

std::int64_t AttentionTiling::tile_loads() const {
  return div_up(keys * units_of_row(), shares_keys ? lanes : invocations());
}

/// Tiles of k and of v, and the subgroups' areas; of sdpa_decode.comp the subgroups' sums alone.
std::int64_t AttentionTiling::pool_units() const {
  if (decodes()) return subgroups * rows() * (width / quad + 2);
  const std::int64_t tile = keys * (units_of_row() + 1);
  if (in_registers) return tile + std::max(tile, subgroups * rows() * keys / values_of_unit);
  const std::int64_t pitch = keys < 32 ? 7 : keys / quad + 1;
  const std::int64_t area = rows() * pitch + rows() / quad;
  return (shares_keys ? subgroups : 1) * 2 * tile + subgroups * area;
}

/// And the numbers of tiles with NaN, in whole units, and what plain code exchanges.
std::int64_t AttentionTiling::shared_bytes() const {
  const std::int64_t words_of_lane = 4 + (decodes() ? queries_of_decode : fragment.n) / 4;
  const std::int64_t exchanged = in_registers && plain ? invocations() * words_of_lane * 4 : 0;
  return (pool_units() + div_up(subgroups, quad)) * bytes_of_unit + exchanged;
}

AttentionTiling attention_tiling(const BuildContext& context) {
  const Sdpa op = sdpa_params(context.params);
  const std::optional<Fragment> matrices =
      fragment_of(context.device, kind_of_attention, wanted_fragment(context));
  AttentionTiling tiling;
  tiling.plain = context.tuned("plain", matrices ? 0 : 1) != 0;
  if (matrices) tiling.fragment = *matrices;
  tiling.width = op.width;
  tiling.subgroup_m = context.tuned("subgroup_m", tiling.fragment.m);
  tiling.fragments_m = std::max<std::int64_t>(1, tiling.subgroup_m / tiling.fragment.m);
  tiling.shares_keys = context.tuned("splits", 0) > 0 || queries_of_head(op) <= tiling.fragment.m;
  const bool by_default = in_registers_by_default(context, op, tiling);
  tiling.in_registers = context.tuned("scores", by_default ? 2 : 1) == 2;
  const std::int64_t plain_lanes = tiling.in_registers ? lanes_with_places : tiling.fragment.m;
  tiling.lanes = tiling.plain ? context.tuned("lanes", plain_lanes) : context.device.subgroup_size;
  tiling.subgroups = context.tuned("subgroups", subgroups_by_default(context, op, tiling));
  tiling.keys = context.tuned("tile_keys", keys_by_default(tiling));
  fit_shared_memory(context, tiling);
  tiling.first_turn = context.tuned("first_turn", 0);
  if (tiling.first_turn == 0) tiling.first_turn = first_turn_by_default(context, op, tiling);
  set_splits(context, op, tiling);
  tiling.joins_itself = context.tuned("join", joins_itself_by_default(context, op, tiling) ? 2 : 1) == 2;
  return tiling;
}

std::optional<std::string> tiling_unsupported_reason(const AttentionTiling& tiling,
                                                     const DeviceInfo& device) {
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
  if (tiling.joins_itself && !tiling.decodes()) {
    return "only where subgroups share keys and scores stay in registers can the last workgroup join the "
           "others' sums";
  }
  if (auto reason = tiling.in_registers ? registers_unsupported_reason(tiling, device)
                                        : lanes_unsupported_reason(tiling)) {
    return reason;
  }
  if (auto reason = workgroup_unsupported_reason(tiling.invocations(), most_invocations(device)))
    return reason;
  if (!tiling.plain) {
    if (auto reason = subgroup_size_unsupported_reason(tiling.invocations(), device)) return reason;
  }
  if (tiling.shared_bytes() <= device.max_shared_bytes) return std::nullopt;
  return fmt::format(
      "tiles of {} queries and {} keys need {} bytes of shared memory, "
      "maxComputeSharedMemorySize is {}",
      tiling.rows_of_workgroup(), tiling.keys, tiling.shared_bytes(), device.max_shared_bytes);
}

}  // namespace assay::ops
