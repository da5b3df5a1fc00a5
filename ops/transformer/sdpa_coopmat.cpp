#include "ops/common/grid.h"
#include "ops/common/shader_values.h"
#include "ops/common/tensor_at.h"
#include "ops/common/unit_error.h"
#include "ops/linear/coopmat.h"
#include "ops/linear/coopmat_dispatch.h"
#include "ops/linear/coopmat_tiling.h"
#include "ops/transformer/sdpa.h"
#include "ops/transformer/sdpa_tiling.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace assay::ops {
namespace {

using references::Sdpa;
using references::sdpa_params;

/// Relative. Where the kernel can neither rely on rounding to nearest nor demand it, a device may round
/// weights towards zero.
double error_of_half_weight(const DeviceInfo& device) {
  const bool is_nearest = device.treats_halves_well_unasked() || device.rounds_halves_to_even();
  return is_nearest ? 0x1p-11 : 0x1p-10;
}

void add_fragments(Dispatch& dispatch, const AttentionTiling& tiling, std::int64_t columns,
                   std::int64_t elements) {
  Fragment fragment = tiling.fragment;
  fragment.n = columns;
  add_fragment(dispatch, fragment, tiling.plain);
  set_define(dispatch, "ELEMENTS", elements);
  set_define(dispatch, "SUBGROUPS", tiling.subgroups);
  set_define(dispatch, "UNITS_OF_ROW", tiling.units_of_row());
}

void add_tiles(Dispatch& dispatch, const AttentionTiling& tiling) {
  const Fragment& fragment = tiling.fragment;
  set_define(dispatch, "KEY_COLUMNS", tiling.keys / fragment.n);
  set_define(dispatch, "KEY_STEPS", tiling.keys / fragment.k);
  set_define(dispatch, "HEAD_COLUMNS", tiling.width / fragment.n);
  set_define(dispatch, "HEAD_STEPS", tiling.width / fragment.k);
  set_constant(dispatch, "tile_loads", tiling.tile_loads());
}

// Each sets the kernel, with its #defines and constants.
void keep_scores_in_shared_memory(Dispatch& dispatch, const AttentionTiling& tiling) {
  dispatch.shader = "sdpa_coopmat.comp";
  const Fragment& fragment = tiling.fragment;
  add_fragments(dispatch, tiling, fragment.n, tiling.plain ? 0 : fragment.m * fragment.n / tiling.lanes);
  add_tiles(dispatch, tiling);
  set_define(dispatch, "FRAGMENTS_M", tiling.fragments_m);
  set_define(dispatch, "FRAGMENTS_OF_SCORES", tiling.fragments_m * (tiling.keys / fragment.n));
  set_define(dispatch, "SHARES_KEYS", tiling.shares_keys ? 1 : 0);
  set_define(dispatch, "SPLITS", tiling.splits > 1 ? 1 : 0);
  set_define(dispatch, "LANES_OF_ROW", tiling.lanes_of_row());
  set_constant(dispatch, "subgroup_lanes", tiling.lanes);
}

void keep_scores_in_registers(Dispatch& dispatch, const AttentionTiling& tiling) {
  dispatch.shader = "sdpa_registers.comp";
  const std::int64_t elements = tiling.fragment.n / 2;
  add_fragments(dispatch, tiling, tiling.fragment.n, elements);
  add_tiles(dispatch, tiling);
  set_define(dispatch, "WORDS_OF_SUMS", elements / 2);
}

void decode(Dispatch& dispatch, const AttentionTiling& tiling) {
  dispatch.shader = "sdpa_decode.comp";
  const std::int64_t columns = tiling.rows();  // queries are columns of the products
  const std::int64_t v_units = div_up(tiling.units_of_row(), 8);
  add_fragments(dispatch, tiling, columns, columns / 2);
  set_define(dispatch, "K_UNITS", tiling.units_of_row() / 4);
  set_define(dispatch, "V_UNITS", v_units);
  set_define(dispatch, "SUMS_OF_LANE", 4 * v_units);
  set_define(dispatch, "SPLITS", tiling.splits == 1 ? 0 : tiling.joins_itself ? 2 : 1);
}

void set_kernel(Dispatch& dispatch, const AttentionTiling& tiling) {
  if (!tiling.in_registers) return keep_scores_in_shared_memory(dispatch, tiling);
  if (tiling.shares_keys) return decode(dispatch, tiling);
  keep_scores_in_registers(dispatch, tiling);
}

/// The workgroups that have stored their parts, for each block of queries.
Resource add_arrived(Program& program, std::int64_t blocks) {
  return add_scratch(program, {.name = "arrived",
                               .dtype = DType::I32,
                               .shape = {blocks},
                               .form = {Storage::Buffer, Layout::WP},
                               .is_zero_between_runs = true});
}

Program build(const BuildContext& context) {
  const Sdpa op = sdpa_params(context.params);
  const AttentionTiling tiling = attention_tiling(context);
  Dispatch dispatch{.label = "sdpa"};
  add_attention(dispatch, op, log2_of_e);
  dispatch.defines = {{"MASKED", flag(op.masked)}};  // the others are the kernels' own
  set_kernel(dispatch, tiling);
  const std::int64_t blocks = div_up(op.tokens * op.heads_of_group(), tiling.rows_of_workgroup());
  const std::int64_t workgroups = op.batch * op.kv_heads * blocks * tiling.splits;
  dispatch.push.add(blocks);
  if (!tiling.has_turns()) dispatch.push.add(tiling.splits).add(tiling.split_keys);
  dispatch.push.add(workgroups);
  if (tiling.has_turns()) dispatch.push.add(std::min(tiling.first_turn, workgroups));
  set_constant(dispatch, "pool_units", tiling.pool_units());
  dispatch.bindings = {Resource::tensor(0), Resource::tensor(1), Resource::tensor(2)};
  bind_mask(dispatch, context, op);
  Program program;
  const bool joins = tiling.splits > 1, joins_itself = joins && tiling.joins_itself;
  const Resource y = Resource::tensor(index_of_y(context));
  std::optional<Resource> parts;
  if (joins) parts = add_parts(program, op, tiling.splits);
  bind_at(dispatch, "Y_AT", joins && !joins_itself ? *parts : y);
  if (joins_itself) {
    bind_at(dispatch, "PARTS_AT", *parts);
    bind_at(dispatch, "ARRIVED_AT", add_arrived(program, op.batch * op.kv_heads * blocks));
  }
  set_workgroups(dispatch, workgroups, tiling.invocations(), tiling.shared_bytes(), tiling.plain,
                 context.device);
  program.dispatches.push_back(std::move(dispatch));
  if (joins && !joins_itself) program.dispatches.push_back(join_parts(context, op, tiling.splits, *parts));
  return program;
}

std::optional<std::string> invalid_reason(const ImplPoint& point) {
  if (auto reason = any_texture(point)) return reason;
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

std::optional<std::string> unsupported_reason(const BuildContext& context) {
  const DeviceInfo& device = context.device;
  const WantedFragment wanted = wanted_fragment(context);
  const bool is_plain = context.tuned("plain", 0) != 0;  // on request alone: it is for tests
  if (!is_plain && !fragment_of(device, kind_of_attention, wanted)) {
    return missing_matrices(device, kind_of_attention, wanted);
  }
  const AttentionTiling tiling = attention_tiling(context);
  if (context.tuned("first_turn", 0) > 0 && !tiling.has_turns()) {
    return "first_turn is of many queries whose scores stay in registers: other kernels have no turns";
  }
  return tiling_unsupported_reason(tiling, device);
}

/// Weights are at most 1, or 2^8 where the largest score is raised late (sdpa_decode.comp): their roundings
/// are relative. Besides these: those of a score, of exp(), one for each key of a subgroup in both sums, and
/// those of joining sums. Factors for tiles that raise the largest score are in the magnitude.
UnitError unit_error(const BuildContext& context) {
  const Sdpa op = sdpa_params(context.params);
  const AttentionTiling tiling = attention_tiling(context);
  const std::int64_t sharing = tiling.shares_keys ? tiling.subgroups : 1;
  const std::int64_t tiles = div_up(tiling.split_keys, tiling.keys * sharing);
  const std::int64_t factors = tiling.splits + 3;
  const std::int64_t additions = tiles * tiling.keys + sharing + tiling.splits;
  const double of_scores = grown_error(op, gamma_of(op.width + 14) + 4 * float32_ulp);
  const double of_factors = 4 * static_cast<double>(factors) * float32_ulp;
  return {2 * of_scores + 4 * float32_ulp,
          error_of_half_weight(context.device) + 2 * (of_factors + gamma_of(additions + 2 * factors + 12))};
}

std::vector<Tunable> tunables() {
  return {
      {.name = "tile_keys",
       .doc = "keys of a tile; by default 16 where subgroups share keys, else 64 where scores stay in "
              "registers or D is at most 64, else 32; of four subgroups with D above 64 32",
       .allowed = {16, 32, 64}},
      {.name = "scores",
       .doc = "where scores become weights: 1: shared memory, 2: registers; by default registers where the "
              "device's matrices allow it",
       .allowed = {1, 2}},
      {.name = "subgroup_m",
       .doc = "queries of a subgroup; by default those of a fragment",
       .allowed = {16, 32}},
      {.name = "subgroups",
       .doc =
           "subgroups of a workgroup; by default 4, or 8 for D above 64 and many queries, or for few "
           "queries of at most 128 keys, or of enough for every shader core, whose scores stay in registers",
       .allowed = {1, 2, 4, 8}},
      {.name = "first_turn",
       .max = 65535,
       .doc = "many queries, scores in registers: workgroups that begin with the queries that see most keys; "
              "the others begin with those that see fewest; by default one for each shader core where there "
              "are more, but not more than two, of four subgroups, else all"},
      {.name = "splits",
       .max = most_splits_of_sdpa,
       .doc = "workgroups that share the keys of a query, and whose subgroups do; by default chosen where a "
              "head of the cache has no more queries than a fragment has rows"},
      {.name = "join",
       .max = 2,
       .doc = "where workgroups share the keys of a query: 1: a second dispatch joins what they have; 2: the "
              "last of them does, where scores stay in registers; by default that, but not in chains"},
      {.name = "matrices",
       .max = 2,
       .doc =
           "extension of the cooperative matrices: 1: NV, 2: KHR; by default KHR where it has as large ones"},
      {.name = "plain", .min = 0, .max = 1, .doc = "1: plain code instead of cooperative matrices"},
      {.name = "lanes",
       .doc = "plain code: invocations that stand for a subgroup; by default one for each row of a fragment, "
              "or 32 where scores stay in registers",
       .allowed = {16, 32, 64}}};
}

}  // namespace

bool has_matrices_for_sdpa(const BuildContext& context) {
  return !invalid_reason(context) && fragment_of(context.device, kind_of_attention).has_value();
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
