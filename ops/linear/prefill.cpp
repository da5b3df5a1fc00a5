#include "ops/linear/prefill.h"

#include "ops/common/cpu_loops.h"
#include "ops/common/shader_values.h"
#include "ops/linear/coopmat_dispatch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace assay::ops {
namespace {

using references::Linear;

constexpr std::int64_t stages = 2;  // slabs of x that alternate
constexpr std::int64_t chunks = 8;  // units of 16 bytes of a row of a slab
constexpr std::int64_t values_of_slab = 64;
constexpr std::int64_t eights_of_slab = 2;                       // of each t
constexpr std::int64_t most_fragments = 4, most_row_eights = 8;  // of a subgroup: registers of its sums

constexpr std::array<const char*, 9> of_the_other_kernels{"tile_k",     "subgroups_k", "stages",
                                                          "splits",     "matrices",    "fragment_m",
                                                          "fragment_n", "fragment_k",  "lanes"};

std::int64_t row_eights(const PrefillTiling& tiling) {
  return tiling.subgroup_m / rows_of_placed;
}
std::int64_t fragments(const PrefillTiling& tiling) {
  return tiling.subgroup_n / channels_of_placed;
}
std::int64_t subgroups_n(const PrefillTiling& tiling) {
  return tiling.n / tiling.subgroup_n;
}
/// Loads per invocation of a slab of x.
std::int64_t x_loads(const PrefillTiling& tiling) {
  return tiling.m * chunks / tiling.invocations();
}

/// Slabs of x, and in their place the sums on their way to y: eight rows of each subgroup.
std::int64_t pool_units(const PrefillTiling& tiling) {
  const std::int64_t staged = tiling.subgroups() * rows_of_placed * (tiling.subgroup_n / 4 + 1);
  return std::max(stages * tiling.m * chunks, staged);
}

void add_sizes(Dispatch& product, const PrefillTiling& tiling) {
  set_define(product, "FRAGMENTS", fragments(tiling));
  set_define(product, "ROW_EIGHTS", row_eights(tiling));
  set_define(product, "SUBGROUPS", tiling.subgroups());
  set_constant(product, "pool_units", pool_units(tiling));
  set_constant(product, "tile_m", tiling.m);
  set_constant(product, "subgroups_n", subgroups_n(tiling));
  set_constant(product, "x_loads", x_loads(tiling));
}

/// The loop iterations of an invocation in plain code, loop by loop as in shaders/linear/linear_prefill.comp
/// and common/placed_matrices.glslh.
std::int64_t plain_turns(const PrefillTiling& tiling, const Linear& linear, const LinearKind& kind) {
  const std::int64_t of_x = 2 * turns(x_loads(tiling)), of_weights = turns(2 * fragments(tiling));
  const std::int64_t sums =
      turns(row_eights(tiling), turns(fragments(tiling), turns(sums_of_lane)));  // cleared
  const std::int64_t of_eight =
      turns(row_eights(tiling), turns(fragments(tiling), 2 * turns_of_placed_product()));
  const std::int64_t of_slab = of_x + of_weights + turns(eights_of_slab, of_eight);
  const std::int64_t steps = div_up(linear.k, units_of_step * values_of_unit(kind));
  const std::int64_t slabs = steps * units_of_step * values_of_unit(kind) / values_of_slab;
  const std::int64_t of_y = turns(row_eights(tiling), turns(rows_of_placed, turns(4)));
  return sums + turns(x_loads(tiling)) + turns(div_up(slabs, stages), turns(stages, of_slab)) + of_y;
}

/// Whether the kernel computes such products at all.
bool can_multiply(const Params& params, const LinearKind& kind) {
  return kind.is_real() && references::checked_linear(params).real == DType::F16;
}

/// Whether there are rows for two tiles, and enough tiles. Fewer rows were not measured.
bool is_fast(const Linear& linear, const PrefillTiling& tiling, const DeviceInfo& device) {
  const std::int64_t tiles = div_up(linear.rows(), tiling.m) * div_up(linear.n, tiling.n);
  return linear.rows() > tiling.m && fills_cores(tiles, device.shader_cores_or_assumed());
}

}  // namespace

std::int64_t PrefillTiling::shared_bytes() const {
  return pool_units(*this) * bytes_of_pool_unit + (plain ? exchanged_bytes(subgroups()) : 0);
}

bool fills_cores(std::int64_t tiles, std::int64_t cores) {
  return 5 * tiles >= 8 * cores;
}

bool prefills_by_default(const BuildContext& context, const LinearKind& kind) {
  return may_be_default(context) && can_multiply(context.params, kind) &&
         is_fast(references::checked_linear(context.params), prefill_tiling(context), context.device) &&
         !prefill_invalid_reason(context, kind) && !prefill_unsupported_reason(context, kind);
}

PrefillTiling prefill_tiling(const BuildContext& context) {
  PrefillTiling tiling;
  tiling.plain = is_plain(context);
  tiling.m = context.tuned("tile_m", tiling.m);
  tiling.n = context.tuned("tile_n", tiling.n);
  tiling.subgroup_m = context.tuned("subgroup_m", std::min(tiling.subgroup_m, tiling.m));
  tiling.subgroup_n = context.tuned("subgroup_n", std::min(tiling.subgroup_n, tiling.n));
  return tiling;
}

Program prefill_program(const BuildContext& context, const LinearKind& kind, const Images& images) {
  const Linear linear = references::checked_linear(context.params);
  const PrefillTiling tiling = prefill_tiling(context);
  ProductNeeds needs = placed_product_needs(context, kind, tiling.plain, tiling.n);
  needs.images = images;
  Program program;
  Dispatch product{.label = "product", .shader = "linear_prefill.comp"};
  const Slots slots = add_operands(program, product, context, kind, needs);
  add_images(product, context, needs);
  add_placed_fragment(product, kind, tiling.plain);
  add_sizes(product, tiling);
  set_workgroups(product, div_up(slots.all, tiling.m) * needs.tiles_n(linear.n), tiling.invocations(),
                 tiling.shared_bytes(), tiling.plain, context.device);
  program.dispatches.push_back(std::move(product));
  return program;
}

std::optional<std::string> prefill_invalid_reason(const ImplPoint& point, const LinearKind& kind) {
  if (!kind.is_real()) return "weights alone go from memory to registers only where x is f16 (operands: 3)";
  if (auto reason = useless_tunable_reason(point, of_the_other_kernels)) return reason;
  return scales_invalid_reason(point, kind);
}

std::optional<std::string> prefill_unsupported_reason(const BuildContext& context, const LinearKind& kind) {
  const PrefillTiling tiling = prefill_tiling(context);
  if (tiling.m % tiling.subgroup_m != 0 || tiling.n % tiling.subgroup_n != 0) {
    return fmt::format("subgroups of {} x {} do not fit evenly in a tile of {} x {}", tiling.subgroup_m,
                       tiling.subgroup_n, tiling.m, tiling.n);
  }
  if (row_eights(tiling) > most_row_eights || fragments(tiling) > most_fragments) {
    return fmt::format("{} x {} sums per subgroup need too many registers: at most {} x {}",
                       tiling.subgroup_m, tiling.subgroup_n, most_row_eights * rows_of_placed,
                       most_fragments * channels_of_placed);
  }
  if (tiling.m * chunks % tiling.invocations() != 0) {
    return fmt::format("{} invocations cannot share the {} units of 16 bytes of 64 values of {} rows evenly",
                       tiling.invocations(), tiling.m * chunks, tiling.m);
  }
  const std::int64_t turns = plain_turns(tiling, references::checked_linear(context.params), kind);
  return placed_unsupported_reason(context, kind, tiling.plain, turns, tiling.subgroups(),
                                   tiling.shared_bytes());
}

}  // namespace assay::ops
