#include "ops/linear/decode.h"

#include "ops/common/cpu_loops.h"
#include "ops/common/grid.h"
#include "ops/common/shader_values.h"
#include "ops/linear/coopmat_dispatch.h"
#include "ops/linear/placed_operands.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace assay::ops {
namespace {

using references::Linear;

constexpr std::array<const char*, 10> of_the_other_kernel{
    "tile_m",   "tile_k",     "subgroup_m", "subgroup_n", "splits",
    "matrices", "fragment_m", "fragment_n", "fragment_k", "lanes"};

/// The steps along K in which each subgroup multiplies four units of weights.
std::int64_t steps_of_subgroup(const Linear& linear, const LinearKind& kind, std::int64_t subgroups) {
  return div_up(div_up(linear.k, values_of_unit(kind)), units_of_step * subgroups);
}

void add_defines(Dispatch& product, const DecodeTiling& tiling, const Linear& linear,
                 const LinearKind& kind) {
  add_placed_fragment(product, kind, tiling.plain);
  set_define(product, "FRAGMENTS", tiling.fragments);
  set_define(product, "SUBGROUPS", tiling.subgroups);
  set_define(product, "STAGES", tiling.stages);
  set_define(product, "SCALES_SUMS", scales_sums(linear, kind) ? 1 : 0);
}

/// The loop iterations of an invocation in plain code, loop by loop as in shaders/linear/linear_decode.comp
/// and common/placed_matrices.glslh.
std::int64_t plain_turns(const DecodeTiling& tiling, const Linear& linear, const LinearKind& kind) {
  const std::int64_t eights = values_of_unit(kind) / 8;
  const std::int64_t of_loads = turns(2 * tiling.fragments) + turns(eights);
  const std::int64_t of_step =
      turns(eights, turns(tiling.fragments, 2 * turns_of_placed_product())) + of_loads;
  const std::int64_t rounds = div_up(steps_of_subgroup(linear, kind, tiling.subgroups), tiling.stages);
  return tiling.stages * of_loads + turns(rounds, tiling.stages * of_step) +
         turns(tiling.channels(), turns(tiling.subgroups));
}

/// Whether the kernel computes such products at all.
bool can_multiply(const Params& params, const LinearKind& kind) {
  if (kind.is_grouped()) return true;
  return kind.is_real() && references::checked_linear(params).real == DType::F16;
}

// As an H200 has it (shaders/NOTES.md). Workgroups of 16 subgroups, or two of 8, occupy a shader core.
constexpr std::int64_t subgroups_of_core = 16;
constexpr std::int64_t most_rows = 16;
constexpr std::int64_t most_stages = 2;

/// Whether there are about as many workgroups of this many fragments as shader cores, or more.
bool occupies(const Linear& linear, std::int64_t fragments, std::int64_t cores) {
  const std::int64_t workgroups = div_up(linear.n, fragments * DecodeTiling::channels_of_fragment);
  return 10 * workgroups >= 9 * cores;
}

/// linear_gemv.comp takes one row, where loads are all that counts: but this kernel is faster if it has all
/// of its loads in flight. Where x is int8, linear_gemv.comp also takes a second row at little cost. Above
/// eight rows weights are loaded twice, for which shared memory is better where there are many channels.
bool is_fast(const Linear& linear, const LinearKind& kind, const DeviceInfo& device) {
  const std::int64_t rows = linear.rows(), cores = device.shader_cores_or_assumed();
  if (rows > most_rows) return false;
  if (rows > DecodeTiling::rows) return !occupies(linear, 4, cores);
  if (kind.is_grouped()) return rows > 2;
  return rows > 1 ||
         (scales_sums(linear, kind) && steps_of_subgroup(linear, kind, subgroups_of_core) == most_stages &&
          occupies(linear, 1, cores));
}

/// The more channels a workgroup has, the fewer times x is loaded, as long as all shader cores have one.
/// Four fragments take too many registers where x is int8.
DecodeTiling fast_tiling(const Linear& linear, const LinearKind& kind, const DeviceInfo& device) {
  const std::int64_t cores = device.shader_cores_or_assumed();
  const std::int64_t steps = steps_of_subgroup(linear, kind, subgroups_of_core);
  const bool has_many_channels = occupies(linear, 4, cores) && linear.rows() > 1;
  DecodeTiling tiling;
  if (has_many_channels) {
    tiling.fragments = kind.is_grouped() ? 2 : 4;
  } else if (steps > most_stages && occupies(linear, 2, cores)) {
    tiling.fragments = 2;
  }
  const bool shares_core = has_many_channels || linear.rows() > DecodeTiling::rows;
  tiling.subgroups = shares_core ? subgroups_of_core / 2 : subgroups_of_core;
  while (tiling.subgroups > 1 && steps_of_subgroup(linear, kind, tiling.subgroups / 2) == 1) {
    tiling.subgroups /= 2;
  }
  tiling.stages = steps == most_stages && !shares_core ? most_stages : 1;
  return tiling;
}

}  // namespace

std::int64_t DecodeTiling::shared_bytes() const {
  return pool_units() * bytes_of_pool_unit + (plain ? exchanged_bytes(subgroups) : 0);
}

bool scales_sums(const Linear& linear, const LinearKind& kind) {
  return is_int4(kind.w) && linear.group_size % (units_of_step * values_of_unit(kind)) == 0;
}

bool decodes_by_default(const BuildContext& context, const LinearKind& kind) {
  return may_be_default(context) && can_multiply(context.params, kind) &&
         is_fast(references::checked_linear(context.params), kind, context.device) &&
         !decode_invalid_reason(context, kind) && !decode_unsupported_reason(context, kind);
}

DecodeTiling decode_tiling(const BuildContext& context, const LinearKind& kind) {
  const DeviceInfo& device = context.device;
  DecodeTiling tiling = fast_tiling(references::checked_linear(context.params), kind, device);
  tiling.plain = is_plain(context);
  tiling.fragments = context.tuned("tile_n", tiling.channels()) / DecodeTiling::channels_of_fragment;
  tiling.subgroups = context.tuned("subgroups_k", tiling.subgroups);
  tiling.stages = context.tuned("stages", tiling.stages);
  const auto is_too_large = [&] {
    return tiling.invocations() > most_invocations(device) || tiling.shared_bytes() > device.max_shared_bytes;
  };
  while (context.tuned("subgroups_k", 0) == 0 && tiling.subgroups > 1 && is_too_large())
    tiling.subgroups /= 2;
  return tiling;
}

std::int64_t decode_roundings(const BuildContext& context, const LinearKind& kind) {
  const Linear linear = references::checked_linear(context.params);
  const DecodeTiling tiling = decode_tiling(context, kind);
  return steps_of_subgroup(linear, kind, tiling.subgroups) + tiling.subgroups;
}

Program decode_program(const BuildContext& context, const LinearKind& kind) {
  const Linear linear = references::checked_linear(context.params);
  const DecodeTiling tiling = decode_tiling(context, kind);
  ProductNeeds needs = placed_product_needs(context, kind, tiling.plain, tiling.channels());
  needs.scales_sums = scales_sums(linear, kind);
  Program program;
  Dispatch product{.label = "product", .shader = "linear_decode.comp"};
  const Slots slots = add_operands(program, product, context, kind, needs);
  add_defines(product, tiling, linear, kind);
  set_constant(product, "pool_units", tiling.pool_units());
  set_workgroups(product, div_up(slots.all, DecodeTiling::rows) * needs.tiles_n(linear.n),
                 tiling.invocations(), tiling.shared_bytes(), tiling.plain, context.device);
  program.dispatches.push_back(std::move(product));
  return program;
}

std::optional<std::string> decode_invalid_reason(const ImplPoint& point, const LinearKind& kind) {
  if (auto reason = useless_tunable_reason(point, of_the_other_kernel)) return reason;
  const std::int64_t channels = point.tuned("tile_n", DecodeTiling::channels_of_fragment);
  if (channels > 4 * DecodeTiling::channels_of_fragment) {
    return fmt::format("tile_n is {}, but at most 64 where operands go from memory to registers", channels);
  }
  // Where sums of integers are scaled, all that a subgroup adds at once must have one scale.
  return scales_invalid_reason(point, kind, kind.is_grouped() ? units_of_step : 1);
}

std::optional<std::string> decode_unsupported_reason(const BuildContext& context, const LinearKind& kind) {
  const DecodeTiling tiling = decode_tiling(context, kind);
  const std::int64_t turns = plain_turns(tiling, references::checked_linear(context.params), kind);
  return placed_unsupported_reason(context, kind, tiling.plain, turns, tiling.subgroups,
                                   tiling.shared_bytes());
}

}  // namespace assay::ops
