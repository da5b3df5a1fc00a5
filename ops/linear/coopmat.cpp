#include "ops/linear/coopmat.h"

#include "ops/common/cpu_loops.h"
#include "ops/common/grid.h"
#include "ops/common/shader_values.h"
#include "ops/common/unit_error.h"
#include "ops/linear/coopmat_dispatch.h"
#include "ops/linear/coopmat_tiling.h"
#include "ops/linear/decode.h"
#include "ops/linear/prefill.h"
#include "ops/linear/tensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::ops {

std::optional<std::string> coopmat_tune_invalid_reason(const ImplPoint& point) {
  for (const auto& [part, whole] : {std::pair{"subgroup_m", "tile_m"}, {"subgroup_n", "tile_n"}}) {
    const std::int64_t size = point.tuned(whole, 0);
    if (size == 0 || size % point.tuned(part, 1) == 0) continue;
    return fmt::format("{} {} is not a multiple of {} {}", whole, size, part, point.tuned(part, 1));
  }
  return std::nullopt;
}

namespace {

using references::Linear;

constexpr std::int64_t most_subgroups_of_slabs = 8;  // that share K
constexpr std::int64_t most_fragments = CoopmatTiling::most_fragments;
constexpr std::int64_t most_fragments_of_a_side = CoopmatTiling::most_fragments_of_a_side;
// The largest group whose int32 sums of products of int8 by at most 15 stay below 2^24, so that floats hold
// them exactly.
constexpr std::int64_t largest_group = (std::int64_t{1} << 24) / (128L * 15) / 8 * 8;
// The unit error of int4 weights that are multiplied by half-float scales: one rounding of the scale and one
// of the product. Each is off by at most 2^-11 where it is a normal half, and together by less than this. A
// scale below 2^-25 of the largest of its channel is not a normal half. What such a scale loses, or what is
// flushed to 0, is up to 2^-25 of the largest scale, so that the bound still covers it wherever a value
// multiplied by the largest scale counts in the magnitude. It does not where x or w is 0 there and little
// else is added.
constexpr double error_of_half_weights = 0x1p-10;

ProductNeeds needs_of(const BuildContext& context, const CoopmatTiling& tiling, const Images& images) {
  ProductNeeds needs;
  needs.images = images;
  needs.x_layout = Layout::P4W;
  // Slabs of whole units begin at a unit.
  needs.x_words = tiling.slab.depth % 16 == 0 ? 4 : 1;
  needs.sums_of_groups = true;
  needs.packing = tiling.packing();
  needs.bakes = !tiling.plain && wants_bake(context);
  needs.columns_of_workgroup = tiling.n;
  return needs;
}

void add_defines(Dispatch& product, const CoopmatTiling& tiling) {
  add_fragment(product, tiling.fragment, tiling.plain);
  set_define(product, "ELEMENTS", tiling.plain ? 0 : tiling.fragment.m * tiling.fragment.n / tiling.lanes);
  set_define(product, "FRAGMENTS_M", tiling.fragments_m());
  set_define(product, "FRAGMENTS_N", tiling.fragments_n());
  set_define(product, "SUMS_OF_SUBGROUP", tiling.fragments_m() * tiling.fragments_n());
  set_define(product, "STAGED", tiling.staged());
  set_define(product, "COLUMNS_OF_STAGED", tiling.fragments_n() / tiling.staged());
  set_define(product, "FILLED_UP", tiling.slab.padded > tiling.slab.depth ? 1 : 0);
  set_define(product, "STAGES", tiling.stages);
  set_define(product, "SPLITS", tiling.splits > 1 ? 1 : 0);
}

void add_constants(Dispatch& product, const CoopmatTiling& tiling, const LinearKind& kind) {
  set_constant(product, "tile_m", tiling.m);
  set_constant(product, "tile_n", tiling.n);
  set_constant(product, "chunks", tiling.chunks());
  set_constant(product, "slab_depth", tiling.slab.depth);
  set_constant(product, "x_loads", tiling.x_loads());
  set_constant(product, "w_loads", tiling.w_loads());
  set_constant(product, "subgroups_n", tiling.n / tiling.subgroup_n);
  set_constant(product, "subgroups_k", tiling.subgroups_k);
  set_constant(product, "subgroup_lanes", tiling.lanes);
  set_constant(product, "pool_units", tiling.shared_bytes() / CoopmatTiling::bytes_of_unit);
  if (tiling.splits > 1) {
    set_constant(product, "splits", tiling.splits);
    set_constant(product, "split_slabs", tiling.split_slabs());
  }
  if (is_int4(kind.w)) {
    set_constant(product, "groups_of_slab", tiling.slab.groups);
    set_constant(product, "slabs_of_group", tiling.slab.slabs_of_group);
  }
  if (kind.is_grouped()) {
    set_constant(product, "table_loads", tiling.table_loads());
    set_constant(product, "part_steps", tiling.slab.padded / tiling.slab.groups / tiling.fragment.k);
  }
}

/// Scratch for the sums of parts of K (shaders/linear/partial_sums.glslh).
Resource partial_sums(Program& program, const LinearKind& kind, const CoopmatTiling& tiling,
                      const Slots& slots, std::int64_t quads) {
  const bool integers = !kind.is_real() && !kind.is_grouped();
  return add_scratch(program, {.name = "partial_sums",
                               .dtype = integers ? DType::I32 : DType::F32,
                               .shape = {tiling.splits, slots.all, 4 * quads},
                               .form = {Storage::Buffer, Layout::WP}});
}

/// The dispatch that adds the sums of parts of K. `operands`: the bindings of add_operands().
Dispatch join_of(const Dispatch& operands, const CoopmatTiling& tiling, const Slots& slots,
                 std::int64_t quads, const DeviceInfo& device) {
  Dispatch join = operands;
  join.label = "join";
  join.shader = "linear_join.comp";
  const Divider by_quads = divider(quads);
  set_constant(join, "splits", tiling.splits);
  set_constant(join, "quads_multiplier", by_quads.multiplier);
  set_constant(join, "quads_shift", by_quads.shift);
  const std::int64_t invocations = slots.all * quads;
  const std::uint32_t local_size = default_local_size(invocations, device);
  join.local_size = {local_size, 1, 1};
  join.workgroups = fold_grid(invocations, local_size, device.max_workgroup_count[0]);
  return join;
}

/// Whether invocations side by side load pixels side by side, because these are neighbours in memory.
void add_load_order(Dispatch& product, const BuildContext& context) {
  const Layout layout = tensor_named(context, "x").physical.form().layout;
  set_define(product, "PIXELS_FIRST", layout == Layout::P4C ? 0 : 1);
}

Program build(const BuildContext& context, const LinearKind& kind, const Images& images = {}) {
  const Linear linear = references::checked_linear(context.params);
  const CoopmatTiling tiling = coopmat_tiling(context, kind);
  const std::int64_t quads = div_up(linear.n, 4);
  Program program;
  Dispatch product{.label = "product", .shader = "linear_coopmat.comp"};
  const ProductNeeds needs = needs_of(context, tiling, images);
  const Slots slots = add_operands(program, product, context, kind, needs);
  std::optional<Dispatch> join;
  if (tiling.splits > 1) {
    bind_at(product, "PARTIAL_AT", partial_sums(program, kind, tiling, slots, quads));
    join = join_of(product, tiling, slots, quads, context.device);
    add_images_of_y(*join, context, images);
  }
  add_images(product, context, needs);
  if (images.x != nullptr) add_load_order(product, context);
  add_tiling(product, tiling, kind);
  set_tiling_grid(product, tiling, needs.tiles_n(linear.n), slots, context.device);
  program.dispatches.push_back(std::move(product));
  if (join) program.dispatches.push_back(std::move(*join));
  return program;
}

Operands tuned_operands(const ImplPoint& point) {
  return static_cast<Operands>(point.tuned("operands", static_cast<std::int64_t>(Operands::Shared)));
}

std::optional<std::string> invalid_reason(const ImplPoint& point, const LinearKind& kind) {
  if (kind.is_real() && references::checked_linear(point.params).real != DType::F16) {
    return "x is f32, which half floats would round: use f16 or another impl";
  }
  const Operands operands = tuned_operands(point);
  if (operands == Operands::Weights) {
    if (auto reason = prefill_invalid_reason(point, kind)) return reason;
  } else if (operands == Operands::Registers) {
    if (auto reason = decode_invalid_reason(point, kind)) return reason;
  } else if (point.tuned("subgroups_k", 0) > most_subgroups_of_slabs) {
    return fmt::format("at most {} subgroups share K where operands lie in shared memory (operands: 1)",
                       most_subgroups_of_slabs);
  }
  if (auto reason = coopmat_tune_invalid_reason(point)) return reason;
  if (kind.is_grouped() && operands == Operands::Shared &&
      references::checked_linear(point.params).group_size > largest_group) {
    return fmt::format("sums of groups of {} values may not be exact floats: at most {} values are",
                       references::checked_linear(point.params).group_size, largest_group);
  }
  return linear_invalid_reason(point, kind);
}

std::optional<std::string> shape_unsupported_reason(const CoopmatTiling& tiling, const DeviceInfo& device) {
  const Fragment& fragment = tiling.fragment;
  if (tiling.m % tiling.subgroup_m != 0 || tiling.n % tiling.subgroup_n != 0 ||
      tiling.subgroup_m % fragment.m != 0 || tiling.subgroup_n % fragment.n != 0) {
    return fmt::format("fragments of {} x {} do not fit evenly in {} x {} per subgroup of a tile of {} x {}",
                       fragment.m, fragment.n, tiling.subgroup_m, tiling.subgroup_n, tiling.m, tiling.n);
  }
  if (tiling.parts_of_slab() % tiling.subgroups_k != 0) {
    return fmt::format("slabs of {} {} cannot be shared evenly by {} subgroups", tiling.parts_of_slab(),
                       tiling.scales_groups() ? "groups" : "fragments along K", tiling.subgroups_k);
  }
  if (tiling.fragments_m() * tiling.fragments_n() > most_fragments ||
      std::max(tiling.fragments_m(), tiling.fragments_n()) > most_fragments_of_a_side) {
    return fmt::format(
        "{} x {} fragments per subgroup need too many registers: at most {}, and {} side by side",
        tiling.fragments_m(), tiling.fragments_n(), most_fragments, most_fragments_of_a_side);
  }
  return workgroup_unsupported_reason(
      tiling.invocations(), std::min(device.max_workgroup_invocations, device.max_workgroup_size[0]));
}

/// "16x?x32 ", for sizes that a case tunes; "" if it tunes none.
std::string sizes_text(const WantedFragment& wanted) {
  if (wanted.m + wanted.n + wanted.k == 0) return "";
  const auto text = [](std::int64_t size) { return size == 0 ? "?" : std::to_string(size); };
  return fmt::format("{}x{}x{} ", text(wanted.m), text(wanted.n), text(wanted.k));
}

/// "; the device multiplies wrongly by A, by B": those of the same types; "" if there are none.
std::string wrong_text(const DeviceInfo& device, std::string_view types) {
  std::vector<std::string> wrong;
  std::ranges::copy_if(device.wrong_matrices, std::back_inserter(wrong), [&](const std::string& one) {
    return one.find(fmt::format(" {} by ", types)) != std::string::npos;
  });
  return wrong.empty() ? "" : fmt::format("; the device multiplies wrongly by {}", fmt::join(wrong, ", by "));
}

/// Of the kernel whose operands lie in shared memory.
std::optional<std::string> slabs_unsupported_reason(const BuildContext& context, const LinearKind& kind) {
  if (auto reason = matrices_unsupported_reason(context, kind)) return reason;
  const CoopmatTiling tiling = coopmat_tiling(context, kind);
  if (auto reason = weight_texture_unsupported_reason(context, kind.w, tiling.packing())) return reason;
  return tiling_unsupported_reason(tiling, context.device);
}

/// Consecutive roundings in an element: of real sums that the unit makes, one per value of K; of scaling and
/// adding each group of integers, and each part of K; of scale, bias and requantization. Rounding weights to
/// halves before comes on top.
double unit_error(const BuildContext& context, const LinearKind& kind) {
  constexpr std::int64_t last = 5;
  const Linear linear = references::checked_linear(context.params);
  const Operands operands = coopmat_operands(context, kind);
  const bool decodes = operands == Operands::Registers;
  const std::int64_t parts = decodes                         ? decode_roundings(context, kind)
                             : operands == Operands::Weights ? 1
                                                             : coopmat_tiling(context, kind).splits;
  if (!kind.is_real()) return gamma_of((decodes ? 0 : linear.groups()) + parts + last);
  const double of_sums = gamma_of(linear.k + 1 + parts + last);
  const bool rounds_weights = kind.is_real_int4() && !(decodes && scales_sums(linear, kind));
  return rounds_weights ? of_sums + error_of_half_weights * (1 + of_sums) : of_sums;
}

std::string summary_of(const LinearKind& kind) {
  const std::string multiply = "subgroups multiply cooperative matrices of ";
  if (kind.is_grouped()) return multiply + "int8, or for a few rows of half floats";
  if (!kind.is_real()) return multiply + "int8";
  if (!kind.is_real_int4()) return multiply + "half floats; weights go through shared memory or to registers";
  return multiply +
         "half floats, to which weights times scales are rounded, in shared memory or in registers; for a "
         "few "
         "rows the sums of 128 values with one scale are scaled instead";
}

/// Where operands may be in registers: more subgroups then, and another meaning of stages.
void add_operands(std::vector<Tunable>& tunables, const LinearKind& kind) {
  const auto named = [&](const char* name) { return std::ranges::find(tunables, name, &Tunable::name); };
  named("subgroups_k")->allowed.push_back(16);
  named("stages")->fallback = 0;
  named("stages")->doc = "slabs in shared memory, used alternately; or steps in registers, loaded at once";
  Tunable operands{
      .name = "operands",
      .doc =
          "where x and w become operands of matrices: 1: shared memory; 2: registers, with sizes "
          "by tile_n (16, 32 or 64), subgroups_k and stages alone, the default for a few rows",
      .allowed = {1, 2}};
  if (kind.is_real()) {
    operands.doc +=
        "; 3: x in shared memory, w in registers, with sizes by tile_m, tile_n, subgroup_m and "
        "subgroup_n alone, the default for many tiles";
    operands.allowed.push_back(3);
  }
  operands.doc += " (where no size is tuned and the device's matrices of halves allow it)";
  tunables.push_back(std::move(operands));
}

}  // namespace

void add_tiling(Dispatch& product, const CoopmatTiling& tiling, const LinearKind& kind) {
  add_defines(product, tiling);
  add_constants(product, tiling, kind);
}

std::string missing_matrices(const DeviceInfo& device, const LinearKind& kind, const WantedFragment& wanted) {
  const char* extension = wanted.matrices == WantedMatrices::Nv    ? "VK_NV_cooperative_matrix"
                          : wanted.matrices == WantedMatrices::Khr ? "VK_KHR_cooperative_matrix"
                                                                   : "VK_KHR_ or VK_NV_cooperative_matrix";
  const char* types = kind.is_real() ? "f16 to f32" : "i8 to i32";
  return fmt::format("{} with products of {}{} is missing{}", extension, sizes_text(wanted), types,
                     wrong_text(device, types));
}

std::optional<std::string> matrices_unsupported_reason(const BuildContext& context, const LinearKind& kind) {
  const WantedFragment wanted = wanted_fragment(context);
  const bool names_matrices = wanted.matrices != WantedMatrices::Any || wanted.m + wanted.n + wanted.k > 0;
  const bool needs_matrices = context.tuned("plain", names_matrices ? 0 : 1) == 0;
  if (!needs_matrices || fragment_of(context.device, kind, wanted)) return std::nullopt;
  return missing_matrices(context.device, kind, wanted);
}

std::optional<std::string> tiling_unsupported_reason(const CoopmatTiling& tiling, const DeviceInfo& device) {
  if (auto reason = shape_unsupported_reason(tiling, device)) return reason;
  if (auto reason = tiling.plain ? loops_unsupported_reason(tiling.plain_turns(), device)
                                 : subgroup_size_unsupported_reason(tiling.invocations(), device)) {
    return reason;
  }
  if (tiling.shared_bytes() <= device.max_shared_bytes) return std::nullopt;
  return fmt::format("tiles of {} x {} x {} need {} bytes of shared memory, maxComputeSharedMemorySize is {}",
                     tiling.m, tiling.n, tiling.slab.padded, tiling.shared_bytes(), device.max_shared_bytes);
}

void set_tiling_grid(Dispatch& product, const CoopmatTiling& tiling, std::int64_t tiles_n, const Slots& slots,
                     const DeviceInfo& device) {
  set_workgroups(product, div_up(slots.all, tiling.m) * tiles_n * tiling.splits, tiling.invocations(),
                 tiling.shared_bytes(), tiling.plain, device);
}

Operands coopmat_operands(const BuildContext& context, const LinearKind& kind) {
  if (context.tune.contains("operands")) return tuned_operands(context);
  if (decodes_by_default(context, kind)) return Operands::Registers;
  return prefills_by_default(context, kind) ? Operands::Weights : Operands::Shared;
}

bool has_matrices(const DeviceInfo& device, const LinearKind& kind) {
  return fragment_of(device, kind).has_value();
}

Program coopmat_convolution(const BuildContext& context, const LinearKind& kind, const Images& images) {
  return build(context, kind, images);
}

std::optional<std::string> coopmat_convolution_unsupported_reason(const BuildContext& context,
                                                                  const LinearKind& kind) {
  return slabs_unsupported_reason(context, kind);
}

std::vector<Tunable> coopmat_tunables(const LinearKind& kind) {
  // Those of the devices that are known; none has matrices of 64 rows for halves, or for sums that are scaled
  // as floats.
  const bool tall = !kind.is_real() && !kind.is_grouped();
  const std::vector<std::int64_t> rows =
      tall ? std::vector<std::int64_t>{8, 16, 64} : std::vector<std::int64_t>{8, 16};
  const std::vector<std::int64_t> depths =
      kind.is_real() ? std::vector<std::int64_t>{8, 16} : std::vector<std::int64_t>{16, 32};
  return {
      {.name = "tile_m", .doc = "rows of a workgroup's tile", .allowed = {16, 32, 64, 128, 256}},
      {.name = "tile_n", .doc = "output channels of a workgroup's tile", .allowed = {16, 32, 64, 128, 256}},
      {.name = "tile_k",
       .doc = "most values along K of a slab in shared memory",
       .allowed = {32, 64, 128, 192, 256}},
      {.name = "subgroup_m", .doc = "rows of a subgroup's part of a tile", .allowed = {16, 32, 64, 128}},
      {.name = "subgroup_n",
       .doc = "output channels of a subgroup's part of a tile",
       .allowed = {16, 32, 64, 128}},
      {.name = "subgroups_k",
       .doc = "subgroups that share the K of their part of a tile",
       .allowed = {1, 2, 4, 8}},
      {.name = "stages", .fallback = 1, .max = 2, .doc = "slabs in shared memory, used alternately"},
      {.name = "splits", .max = 64, .doc = "workgroups that share K; a second pass adds their sums"},
      {.name = "matrices",
       .max = 2,
       .doc =
           "extension of the cooperative matrices: 1: NV, 2: KHR; by default KHR where it has as large ones"},
      {.name = "fragment_m",
       .doc = "rows of a cooperative matrix; the device's largest are the default",
       .allowed = rows},
      {.name = "fragment_n", .doc = "its columns", .allowed = {8, 16}},
      {.name = "fragment_k", .doc = "its values along K", .allowed = depths},
      {.name = "plain", .min = 0, .max = 1, .doc = "1: plain code instead of cooperative matrices"},
      {.name = "lanes",
       .doc = "plain code: invocations that stand for a subgroup; the first multiplies, all load and store",
       .allowed = {1, 8, 16, 32, 64}},
      weights_tunable(),
      bake_tunable()};
}

Impl coopmat_linear(const LinearKind& kind) {
  Impl impl{.name = "coopmat"};
  impl.summary = summary_of(kind);
  impl.ceiling = kind.is_real() ? Ceiling::CoopFp16 : Ceiling::CoopInt8;
  if (kind.is_grouped()) {
    impl.ceiling_here = [kind](const BuildContext& context) {
      const bool decodes = coopmat_operands(context, kind) == Operands::Registers;
      return decodes ? Ceiling::CoopFp16 : Ceiling::CoopInt8;
    };
  }
  impl.tunables = coopmat_tunables(kind);
  if (kind.is_real() || kind.is_grouped()) add_operands(impl.tunables, kind);
  impl.build = [kind](const BuildContext& context) {
    const Operands operands = coopmat_operands(context, kind);
    if (operands == Operands::Registers) return decode_program(context, kind);
    return operands == Operands::Weights ? prefill_program(context, kind) : build(context, kind);
  };
  impl.invalid_reason = [kind](const ImplPoint& point) { return invalid_reason(point, kind); };
  impl.unsupported_reason = [kind](const BuildContext& context) {
    const Operands operands = coopmat_operands(context, kind);
    if (operands == Operands::Registers) return decode_unsupported_reason(context, kind);
    return operands == Operands::Weights ? prefill_unsupported_reason(context, kind)
                                         : slabs_unsupported_reason(context, kind);
  };
  impl.unit_error = [kind](const BuildContext& context) { return unit_error(context, kind); };
  return impl;
}

}  // namespace assay::ops
