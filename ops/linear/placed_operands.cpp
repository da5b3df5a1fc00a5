#include "ops/linear/placed_operands.h"

#include "ops/common/cpu_loops.h"
#include "ops/common/grid.h"
#include "ops/common/shader_values.h"
#include "ops/linear/coopmat_dispatch.h"
#include "ops/linear/weights.h"

#include <fmt/format.h>

#include <algorithm>

namespace assay::ops {
namespace {

constexpr std::int64_t words_of_operands = 4 + 2;  // of an invocation: common/placed_matrices.glslh
constexpr std::int64_t bytes_of_word = 4;

}  // namespace

bool may_be_default(const BuildContext& context) {
  const auto suits_every_kernel = [](const auto& tuned) {
    return tuned.first == "weights" || tuned.first == "bake";
  };
  return context.device.places_matrices() && std::ranges::all_of(context.tune, suits_every_kernel);
}

bool is_plain(const BuildContext& context) {
  constexpr LinearKind of_matrices{XKind::Real, WeightKind::Int8};  // of any weights: halves
  return context.tuned("plain", fragment_of(context.device, of_matrices) ? 0 : 1) != 0;
}

std::int64_t values_of_unit(const LinearKind& kind) {
  return is_int4(kind.w) ? 32 : 16;
}

Packing placed_packing(const LinearKind& kind) {
  const std::int64_t unit = values_of_unit(kind);
  return {.by_rows = true, .for_halves = kind.is_real(), .slab_depth = unit, .padded_depth = unit};
}

ProductNeeds placed_product_needs(const BuildContext& context, const LinearKind& kind, bool plain,
                                  std::int64_t columns) {
  ProductNeeds needs;
  needs.packing = placed_packing(kind);
  needs.x_words = 4;
  needs.bakes = !plain && wants_bake(context);
  needs.columns_of_workgroup = columns;
  return needs;
}

void add_placed_fragment(Dispatch& product, const LinearKind& kind, bool plain) {
  add_fragment(product, placed_fragment, plain);
  set_define(product, "ELEMENTS", sums_of_lane);
  set_define(product, "EIGHTS", values_of_unit(kind) / 8);
}

std::int64_t exchanged_bytes(std::int64_t subgroups) {
  return subgroups * lanes_of_placed * words_of_operands * bytes_of_word;
}

std::int64_t turns_of_placed_product() {
  return turns(4) + turns(2) + turns(sums_of_lane, turns(placed_fragment.k / 2));
}

std::optional<std::string> useless_tunable_reason(const ImplPoint& point,
                                                  std::span<const char* const> names) {
  for (const char* name : names) {
    if (!point.tune.contains(name)) continue;
    return fmt::format(
        "{} does not count where weights go from memory to registers (operands: {}): leave it out", name,
        point.tuned("operands", 0));
  }
  return std::nullopt;
}

std::optional<std::string> scales_invalid_reason(const ImplPoint& point, const LinearKind& kind,
                                                 std::int64_t units) {
  const std::int64_t values = units * values_of_unit(kind);
  const std::int64_t group_size = references::checked_linear(point.params).group_size;
  if (!is_int4(kind.w) || group_size % values == 0) return std::nullopt;
  return fmt::format("{} hold {} weights of one scale, and {} values with one scale are no multiple of that",
                     units > 1 ? "the 16 bytes of each of four invocations" : "16 bytes", values, group_size);
}

std::optional<std::string> placed_unsupported_reason(const BuildContext& context, const LinearKind& kind,
                                                     bool plain, std::int64_t turns, std::int64_t subgroups,
                                                     std::int64_t shared_bytes) {
  const DeviceInfo& device = context.device;
  if (!plain && !device.places_matrices()) {
    return "weights go from memory to registers only where subgroups of 32 invocations hold the elements of "
           "VK_KHR_cooperative_matrix's matrices of halves as NVIDIA's do";
  }
  if (auto reason = weight_texture_unsupported_reason(context, kind.w, placed_packing(kind))) return reason;
  if (plain) {
    if (auto reason = loops_unsupported_reason(turns, device)) return reason;
  }
  if (shared_bytes > device.max_shared_bytes) {
    return fmt::format("{} subgroups need {} bytes of shared memory, maxComputeSharedMemorySize is {}",
                       subgroups, shared_bytes, device.max_shared_bytes);
  }
  return workgroup_unsupported_reason(
      subgroups * lanes_of_placed, std::min(device.max_workgroup_invocations, device.max_workgroup_size[0]));
}

}  // namespace assay::ops
