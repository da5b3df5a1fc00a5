#include "ops/linear/decode.h"

#include "ops/common/cpu_loops.h"
#include "ops/common/grid.h"
#include "ops/common/shader_values.h"
#include "ops/linear/coopmat_dispatch.h"
#include "ops/linear/coopmat_tiling.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace assay::ops {
namespace {

using references::Linear;

constexpr std::int64_t bytes_of_unit = 16;
constexpr std::int64_t in_registers = 2;  // the tunable `operands`
constexpr std::int64_t most_subgroups = 8;
// Of a product: 16 output channels by 8 rows of x by 16 values along K.
constexpr Fragment fragment{16, 8, 16, MatrixExtension::Khr};
constexpr std::int64_t sums_of_lane = fragment.m * fragment.n / DecodeTiling::lanes;
constexpr std::int64_t words_of_operands = 4 + 2;  // of an invocation: common/placed_matrices.glslh

std::int64_t values_of_unit(const LinearKind& kind) {
  return is_int4(kind.w) ? 32 : 16;
}

void add_defines(Dispatch& product, const DecodeTiling& tiling, const LinearKind& kind) {
  add_fragment(product, fragment, tiling.plain);
  set_define(product, "ELEMENTS", sums_of_lane);
  set_define(product, "FRAGMENTS", tiling.fragments);
  set_define(product, "SUBGROUPS", tiling.subgroups);
  set_define(product, "EIGHTS", values_of_unit(kind) / 8);
}

/// Weights are packed so that units of 16 bytes follow each other, each of one group.
Packing packing_of(const Linear& linear, const LinearKind& kind) {
  const std::int64_t unit = values_of_unit(kind);
  const Slab slab =
      is_int4(kind.w) ? slab_of_groups(linear.group_size, unit, unit) : Slab{.depth = unit, .padded = unit};
  return {.by_rows = true, .for_halves = true, .slab_depth = slab.depth, .padded_depth = slab.padded};
}

/// The loop iterations of an invocation in plain code, loop by loop as in shaders/linear/linear_decode.comp
/// and common/placed_matrices.glslh.
std::int64_t plain_turns(const DecodeTiling& tiling, const Linear& linear, const LinearKind& kind) {
  const std::int64_t eights = values_of_unit(kind) / 8, products = eights * tiling.fragments * 2;
  const std::int64_t of_product = turns(4) + turns(2) + turns(sums_of_lane, turns(fragment.k / 2));
  const std::int64_t of_loads = turns(2 * tiling.fragments) + turns(eights);
  const std::int64_t steps = div_up(div_up(linear.k, values_of_unit(kind)), 4 * tiling.subgroups);
  return of_loads + turns(steps, products * of_product + of_loads) +
         turns(tiling.channels(), turns(tiling.subgroups));
}

}  // namespace

std::int64_t DecodeTiling::shared_bytes() const {
  const std::int64_t exchanged = plain ? invocations() * words_of_operands * 4 : 0;
  return pool_units() * bytes_of_unit + exchanged;
}

bool takes_decode(const ImplPoint& point) {
  return point.tuned("operands", 1) == in_registers;
}

DecodeTiling decode_tiling(const BuildContext& context, const LinearKind& kind) {
  const DeviceInfo& device = context.device;
  DecodeTiling tiling;
  tiling.plain = context.tuned("plain", fragment_of(device, kind) ? 0 : 1) != 0;
  tiling.fragments =
      context.tuned("tile_n", DecodeTiling::channels_of_fragment) / DecodeTiling::channels_of_fragment;
  tiling.subgroups = context.tuned("subgroups_k", most_subgroups);
  const auto is_too_large = [&] {
    return tiling.invocations() > most_invocations(device) || tiling.shared_bytes() > device.max_shared_bytes;
  };
  while (context.tuned("subgroups_k", 0) == 0 && tiling.subgroups > 1 && is_too_large())
    tiling.subgroups /= 2;
  return tiling;
}

Program decode_program(const BuildContext& context, const LinearKind& kind) {
  const Linear linear = references::checked_linear(context.params);
  const DecodeTiling tiling = decode_tiling(context, kind);
  ProductNeeds needs;
  needs.packing = packing_of(linear, kind);
  needs.bakes = !tiling.plain && wants_bake(context);
  needs.columns_of_workgroup = tiling.channels();
  Program program;
  Dispatch product{.label = "product", .shader = "linear_decode.comp"};
  const Slots slots = add_operands(program, product, context, kind, needs);
  add_defines(product, tiling, kind);
  set_constant(product, "pool_units", tiling.pool_units());
  set_workgroups(product, div_up(slots.all, DecodeTiling::rows) * needs.tiles_n(linear.n),
                 tiling.invocations(), tiling.shared_bytes(), tiling.plain, context.device);
  program.dispatches.push_back(std::move(product));
  return program;
}

std::optional<std::string> decode_invalid_reason(const ImplPoint& point, const LinearKind& kind) {
  constexpr std::array<const char*, 10> of_the_other_kernel{
      "tile_m", "tile_k",   "subgroup_m", "subgroup_n", "stages",
      "splits", "matrices", "fragment_m", "fragment_n", "fragment_k"};
  for (const char* name : of_the_other_kernel) {
    if (!point.tune.contains(name)) continue;
    return fmt::format("{} does not count where operands go from memory to registers: leave it out", name);
  }
  const std::int64_t channels = point.tuned("tile_n", DecodeTiling::channels_of_fragment);
  if (channels > 4 * DecodeTiling::channels_of_fragment) {
    return fmt::format("tile_n is {}, but at most 64 where operands go from memory to registers", channels);
  }
  const Linear linear = references::checked_linear(point.params);
  const Packing packing = packing_of(linear, kind);
  if (packing.padded_depth == packing.slab_depth) return std::nullopt;
  return fmt::format(
      "16 bytes hold {} weights of one scale, and {} values with one scale are no multiple of that",
      values_of_unit(kind), linear.group_size);
}

std::optional<std::string> decode_unsupported_reason(const BuildContext& context, const LinearKind& kind) {
  const Linear linear = references::checked_linear(context.params);
  const DecodeTiling tiling = decode_tiling(context, kind);
  const DeviceInfo& device = context.device;
  if (!tiling.plain && !device.places_matrices()) {
    return "operands go from memory to registers only where subgroups of 32 invocations hold the elements of "
           "VK_KHR_cooperative_matrix's matrices of halves as NVIDIA's do";
  }
  const Packing packing = packing_of(linear, kind);
  if (auto reason = weight_texture_unsupported_reason(context, kind.w, packing)) return reason;
  if (tiling.plain && leaves_loops_early(plain_turns(tiling, linear, kind), device)) {
    return fmt::format("{} loop iterations per invocation in plain code exceed the {} that a CPU device runs",
                       plain_turns(tiling, linear, kind), most_turns_on_a_cpu);
  }
  if (tiling.shared_bytes() > device.max_shared_bytes) {
    return fmt::format("{} subgroups need {} bytes of shared memory, maxComputeSharedMemorySize is {}",
                       tiling.subgroups, tiling.shared_bytes(), device.max_shared_bytes);
  }
  return workgroup_unsupported_reason(
      tiling.invocations(), std::min(device.max_workgroup_invocations, device.max_workgroup_size[0]));
}

}  // namespace assay::ops
