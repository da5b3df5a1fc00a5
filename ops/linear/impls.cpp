#include "ops/linear/impls.h"

#include "ops/common/cpu_loops.h"
#include "ops/common/grid.h"
#include "ops/common/shader_values.h"
#include "ops/common/unit_error.h"
#include "ops/linear/coopmat.h"
#include "ops/linear/coopmat_tiling.h"
#include "ops/linear/tensors.h"
#include "ops/linear/tiled.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>
#include <string>
#include <utility>

namespace assay::ops {
namespace {

using references::Linear;

constexpr std::int64_t coop_workers = 8, coop_local_size = 64;
constexpr std::int64_t most_kept = 8;                           // quads of x per invocation that quantizes
constexpr std::int64_t bytes_of_sums = 16, bytes_of_range = 8;  // per invocation

/// How a workgroup shares the work: its invocations, those that share K, and the output channels that these
/// compute.
struct Sharing {
  std::int64_t local_size = 64, workers = 32, columns = 4;
  std::int64_t units = 4;  ///< units of weights that an invocation loads at once
  std::int64_t rows = 1;   ///< rows of x that it multiplies by these weights

  std::int64_t columns_of_workgroup() const { return local_size / workers * columns; }
};

// The numbers of invocations that keep the memory of a large device busy: where products take longest (groups
// of quantized x, and kinds that were not measured); where they take less; and for one row of int8, where
// they take next to nothing and only reads bind. wanted_workers() selects one of them.
constexpr std::int64_t busy_with_groups = 1 << 16, busy_with_values = 1 << 17, busy_with_reads = 1 << 18;
constexpr std::int64_t fewest_workers = 16, most_workers = 128;
// The most invocations with registers for four units each of int8 weights and real values, and for as many
// units of groups as usual where these are multiplied by several rows.
constexpr std::int64_t most_with_usual_units = 1 << 16;
// Two rows that a dispatch before the product would quantize are quantized by workgroups of their own, unless
// there are more weights than this to be read again.
constexpr std::int64_t many_weights = std::int64_t{1} << 25;
constexpr std::int64_t usual_rows = 4;
// What a product of rows that were quantized before binds at most; workgroups that quantize bind fewer.
constexpr std::uint32_t buffers_of_quantized_rows = 8;
// Rows from this length take so long to quantize that more invocations share them, if that leaves this many
// workgroups.
constexpr std::int64_t long_row = 8192, workgroups_that_quantize = 128;
// The least and the most invocations that share other rows.
constexpr std::int64_t least_that_quantize = 256, most_that_quantize = 512;

/// Whether two neighbouring blocks always lie in one group, and form a unit.
bool has_pairs(const Linear& linear, const LinearKind& kind) {
  return is_int4(kind.w) && linear.group_size % 16 == 0;
}

std::int64_t depth_of_unit(const Linear& linear, const LinearKind& kind) {
  return is_int4(kind.w) ? (has_pairs(linear, kind) ? 16 : 8) : 4;
}

/// The size of workgroups that quantize. They are large and few, so the size is the one that leaves the
/// busiest shader core the fewest quads of output channels. It is whole subgroups and whole sets of workers.
std::int64_t local_size_that_quantizes(const DeviceInfo& device, std::int64_t quads, std::int64_t workers) {
  const std::int64_t step = std::max<std::int64_t>(workers, device.max_subgroup_size);
  const std::int64_t most = std::min(most_that_quantize, most_invocations(device));
  const std::int64_t cores = device.shader_cores_or_assumed();
  std::int64_t best = least_that_quantize, fewest = 0;
  for (std::int64_t size = least_that_quantize; size <= most; size += step) {
    const std::int64_t of_workgroup = size / workers;
    const std::int64_t of_core = div_up(div_up(quads, of_workgroup), cores) * of_workgroup;
    if (fewest != 0 && of_core >= fewest) continue;
    best = size;
    fewest = of_core;
  }
  return best;
}

/// The rows that share the weights which an invocation loads.
std::int64_t default_rows(const DeviceInfo& device, const Linear& linear, const LinearKind& kind) {
  const std::int64_t rows = linear.rows();
  if (kind.quantizes() && device.max_storage_buffers_per_stage < buffers_of_quantized_rows) return 1;
  if (rows > 2)
    return kind.w == WeightKind::Int4HighFirst ? 2 : usual_rows;  // with zero points of groups, fewer
  return kind.quantizes() && linear.k * linear.n < many_weights ? 1 : rows;
}

/// The workers that this number of invocations leaves for each quad of channels of each row.
std::int64_t workers_within(std::int64_t invocations, std::int64_t results) {
  return power_of_two_within(std::max<std::int64_t>(1, invocations / results));
}

/// How many workers a kernel should have, however much there is for them to do: the number that was fastest
/// on an H200 (shaders/NOTES.md).
std::int64_t wanted_workers(const BuildContext& context, const Linear& linear, const LinearKind& kind,
                            std::int64_t rows) {
  const std::int64_t quads = div_up(linear.n, 4);
  if (rows > 1) {
    const std::int64_t of_results =
        power_of_two_from(div_up(busy_with_groups, quads * div_up(linear.rows(), rows)));
    return std::max<std::int64_t>(of_results, context.device.subgroup_size) * (linear.k > long_row ? 2 : 1);
  }
  const bool one_row = linear.rows() == 1;
  if (kind.x == XKind::Int8 && !kind.is_grouped()) {
    if (one_row) return workers_within(busy_with_reads, quads);
    // With fewer than the most they stay in one subgroup, where it is large enough: it exchanges sums in
    // registers.
    const std::int64_t workers = workers_within(busy_with_values, quads * linear.rows());
    return workers >= most_workers ? workers : std::min<std::int64_t>(workers, context.device.subgroup_size);
  }
  if (kind.is_real_int4() || (!kind.is_grouped() && one_row)) return workers_within(busy_with_values, quads);
  return power_of_two_from(div_up(busy_with_groups, quads));
}

/// The units of weights that an invocation loads at once.
std::int64_t usual_units(const Linear& linear, const LinearKind& kind) {
  const std::int64_t usual = kind.is_real_int4() ? 2 : 4;
  return has_pairs(linear, kind) ? usual / 2 : usual;
}

/// The units that an invocation loads at once, given the number of workers: all that a group has, if that is
/// one round; fewer where many invocations multiply real values, so that registers leave room for only a few
/// at a time.
std::int64_t units_at_once(const Linear& linear, const LinearKind& kind, std::int64_t workers,
                           std::int64_t rows) {
  const std::int64_t usual = usual_units(linear, kind);
  const std::int64_t invocations = div_up(linear.n, 4) * workers * div_up(linear.rows(), rows);
  const bool are_many = invocations > most_with_usual_units;
  if (rows > 1) return kind.is_grouped() && are_many ? std::max<std::int64_t>(usual / 2, 1) : usual;
  if (linear.rows() != 1) return usual;
  if (kind.is_grouped() && 2 * usual * workers == div_up(linear.k, depth_of_unit(linear, kind)))
    return 2 * usual;
  const bool is_real_int8 = kind.is_real() && !is_int4(kind.w);
  return is_real_int8 && are_many ? usual / 2 : usual;
}

std::int64_t default_workers(const BuildContext& context, const Linear& linear, const LinearKind& kind,
                             std::int64_t rows) {
  const std::int64_t units = div_up(linear.k, depth_of_unit(linear, kind));
  const std::int64_t of_a_round = power_of_two_from(div_up(units, usual_units(linear, kind)));
  const std::int64_t most = std::min(of_a_round, most_workers);
  const std::int64_t workers =
      std::clamp(wanted_workers(context, linear, kind, rows), std::min(fewest_workers, most), most);
  return std::min(workers, most_invocations(context.device));
}

std::int64_t default_local_size(const BuildContext& context, const Linear& linear, const LinearKind& kind,
                                std::int64_t workers) {
  const std::int64_t quads = div_up(linear.n, 4);
  std::int64_t size = 64;
  // Also where a dispatch before the product quantizes several rows: the sweep over these had such
  // workgroups.
  if (kind.quantizes()) {
    const bool is_long = linear.k > long_row && quads * workers >= workgroups_that_quantize * 512;
    size = is_long ? most_that_quantize : local_size_that_quantizes(context.device, quads, workers);
  }
  size = std::max(std::min(size, most_invocations(context.device)), workers);
  return size / workers * workers;
}

Sharing sharing_of(const BuildContext& context, const LinearKind& kind) {
  const Linear linear = references::checked_linear(context.params);
  Sharing sharing;
  sharing.rows = context.tuned("rows", default_rows(context.device, linear, kind));
  // Whichever of the two a case does not set fits the other: a workgroup has whole sets of workers.
  const std::int64_t workers = default_workers(context, linear, kind, sharing.rows);
  const std::int64_t local_size = context.tuned("local_size", workers);
  sharing.workers = context.tuned("workers", std::gcd(workers, local_size));
  sharing.local_size =
      context.tuned("local_size", default_local_size(context, linear, kind, sharing.workers));
  sharing.columns = context.tuned("columns", 4);
  sharing.units = context.tuned("units", units_at_once(linear, kind, sharing.workers, sharing.rows));
  return sharing;
}

using SharingOf = std::function<Sharing(const BuildContext&)>;

std::int64_t words_of_row(const Linear& linear) {
  return div_up(linear.k, 4);
}

/// Shared memory in bytes: sums, ranges of x, and the row of x where it is quantized there.
std::int64_t shared_bytes(const Linear& linear, const Sharing& sharing, bool quantizes) {
  const auto aligned = [](std::int64_t bytes) { return div_up(bytes, 16) * 16; };
  const std::int64_t of_row =
      quantizes ? aligned(words_of_row(linear) * 4) + aligned(sharing.local_size * bytes_of_range) : 0;
  return sharing.local_size * bytes_of_sums + of_row;
}

/// Whether workgroups quantize their only row of x themselves; otherwise a dispatch before the product does.
bool quantizes(const BuildContext& context, const LinearKind& kind, const Sharing& sharing) {
  const Linear linear = references::checked_linear(context.params);
  return kind.quantizes() && sharing.rows == 1 &&
         shared_bytes(linear, sharing, true) <= context.device.max_shared_bytes;
}

Program build(const BuildContext& context, const LinearKind& kind, const Sharing& sharing, bool dot) {
  const Linear linear = references::checked_linear(context.params);
  const bool quantizes_row = quantizes(context, kind, sharing);
  Program program;
  Dispatch product;
  product.label = "product";
  product.shader = "linear_gemv.comp";
  const Slots slots = add_operands(program, product, context, kind,
                                   {.x_layout = Layout::P4W,
                                    .x_words = depth_of_unit(linear, kind) / 4,
                                    .by_quad = true,
                                    .quantizes = quantizes_row,
                                    .bakes = wants_bake(context),
                                    .dot = dot,
                                    .columns_of_workgroup = sharing.columns_of_workgroup()});
  product.defines.push_back({"QUANTIZES", flag(quantizes_row)});
  if (quantizes_row) {
    const std::int64_t kept = power_of_two_from(div_up(words_of_row(linear), sharing.local_size));
    product.defines.push_back({"KEPT", std::to_string(std::min(kept, most_kept))});
  }
  const bool whole_subgroups = sharing.workers >= context.device.max_subgroup_size;
  product.defines.push_back(
      {"SUBGROUP_ADD", flag(whole_subgroups && context.device.has(Feature::SubgroupArithmetic))});
  product.defines.push_back({"PAIRS", flag(has_pairs(linear, kind))});
  product.defines.push_back({"COLUMN_QUADS", std::to_string(sharing.columns / 4)});
  product.defines.push_back({"ROWS", std::to_string(sharing.rows)});
  product.defines.push_back({"UNITS", std::to_string(sharing.units)});
  product.defines.push_back({"LOADS", std::to_string(sharing.units * sharing.columns / 4)});
  product.constants.push_back({"workers", static_cast<std::uint32_t>(sharing.workers)});
  if (quantizes_row)
    product.constants.push_back({"row_words", static_cast<std::uint32_t>(words_of_row(linear))});
  product.local_size = {static_cast<std::uint32_t>(sharing.local_size), 1, 1};
  use_subgroups(product, context.device);
  const std::int64_t workgroups =
      div_up(slots.all, sharing.rows) * div_up(linear.n, sharing.columns_of_workgroup());
  product.workgroups = fold_grid(workgroups * sharing.local_size, product.local_size[0],
                                 context.device.max_workgroup_count[0]);
  product.shared_bytes = static_cast<std::uint32_t>(shared_bytes(linear, sharing, quantizes_row));
  program.dispatches.push_back(std::move(product));
  return program;
}

/// The loop iterations of an invocation (shaders/linear/linear_gemv.comp): rounds of units, the units of a
/// last round one by one, and for each sum the steps in which workers add theirs, by two loops: within a
/// subgroup and between subgroups. The loops that quantize a row are not counted: such a row has at most
/// 65535 values (references::most_depth_with_zero_point), which take a fraction of the iterations that a CPU
/// runs.
std::int64_t turns_of_gemv(const Linear& linear, const LinearKind& kind, const Sharing& sharing) {
  const std::int64_t units = div_up(linear.k, depth_of_unit(linear, kind));
  const std::int64_t rounds = div_up(units, sharing.units * sharing.workers);
  const std::int64_t of_sum = turns(std::countr_zero(static_cast<std::uint64_t>(sharing.workers))) + 1;
  return turns(rounds) + turns(sharing.units) + sharing.rows * sharing.columns / 4 * of_sum;
}

std::optional<std::string> unsupported_reason(const BuildContext& context, const LinearKind& kind,
                                              const Sharing& sharing) {
  if (auto reason = weight_texture_unsupported_reason(context, kind.w)) return reason;
  const std::int64_t most = most_invocations(context.device);
  if (auto reason = workgroup_unsupported_reason(sharing.local_size, most)) return reason;
  const Linear linear = references::checked_linear(context.params);
  return loops_unsupported_reason(turns_of_gemv(linear, kind, sharing), context.device);
}

/// Consecutive roundings in an element: of a unit, of a worker's sum of units, and of the sum of workers; of
/// scale, bias and requantization.
double unit_error(const BuildContext& context, const LinearKind& kind, const Sharing& sharing) {
  const Linear linear = references::checked_linear(context.params);
  const std::int64_t depth = depth_of_unit(linear, kind);
  const std::int64_t of_unit = kind.is_grouped() ? 2 : depth + 1;
  const std::int64_t units = div_up(div_up(linear.k, depth), sharing.workers);
  return gamma_of(of_unit + units + std::countr_zero(static_cast<std::uint64_t>(sharing.workers)) + 3);
}

std::vector<Tunable> sharing_tunables() {
  return {
      {.name = "workers",
       .doc = "invocations that share the K of an output channel",
       .allowed = {1, 2, 4, 8, 16, 32, 64, 128, 256}},
      {.name = "local_size",
       .doc = "invocations of a workgroup",
       .allowed = {8, 16, 32, 64, 128, 256, 448, 512}},
      {.name = "columns", .doc = "output channels per invocation", .allowed = {4, 8}},
      {.name = "units",
       .doc = "units of weights that an invocation loads at once: 16 bytes for four output channels, or 32 "
              "of int4",
       .allowed = {1, 2, 4, 8}},
      {.name = "rows",
       .doc = "rows of x that an invocation multiplies by the weights that it loads",
       .allowed = {1, 2, 4, 8}},
      bake_tunable()};
}

Impl shared_linear(std::string name, const LinearKind& kind, bool dot, const SharingOf& sharing) {
  Impl impl{.name = std::move(name)};
  const auto uses_dot = [dot](const BuildContext& context) {
    return dot && context.device.has(Feature::DotProduct);
  };
  impl.ceiling_here = [uses_dot](const BuildContext& context) {
    return uses_dot(context) ? Ceiling::Dot4x8 : Ceiling::Fp32;
  };
  impl.build = [kind, uses_dot, sharing](const BuildContext& context) {
    return build(context, kind, sharing(context), uses_dot(context));
  };
  impl.invalid_reason = [kind](const ImplPoint& point) { return linear_invalid_reason(point, kind); };
  impl.unsupported_reason = [kind, sharing](const BuildContext& context) {
    return unsupported_reason(context, kind, sharing(context));
  };
  impl.unit_error = [kind, sharing](const BuildContext& context) {
    return unit_error(context, kind, sharing(context));
  };
  return impl;
}

std::optional<std::string> gemv_invalid_reason(const ImplPoint& point, const LinearKind& kind) {
  if (auto reason = linear_invalid_reason(point, kind)) return reason;
  const std::int64_t workers = point.tuned("workers", 1), local_size = point.tuned("local_size", workers);
  if (local_size % workers == 0) return std::nullopt;
  return fmt::format("{} workers exceed the {} invocations of a workgroup", workers, local_size);
}

// Up to this many rows, weights may be read again for each row before tiles, which read them once, are
// faster.
constexpr std::int64_t few_rows = 16, few_rows_of_reals = 32;

Impl choosing(std::function<std::vector<std::string>(const BuildContext&)> choose) {
  Impl impl{.name = "auto"};
  impl.summary = "chosen by the number of rows and what the device is fast at";
  impl.tunables = {weights_tunable()};
  impl.choose = std::move(choose);
  return impl;
}

/// The number of rows above which matrices, whose time hardly depends on a few rows, are faster than weights
/// that are loaded for each four rows. Where there are many output channels, tiles read the weights as fast
/// as the memory gives them. As an H200 has it (shaders/NOTES.md).
std::int64_t rows_before_matrices(const BuildContext& context, const LinearKind& kind) {
  if (kind.w == WeightKind::Int4HighFirst) return 2;
  if (!kind.is_real()) return has_many_channels(references::checked_linear(context.params)) ? 4 : 8;
  return is_int4(kind.w) ? 4 : 2;
}

/// Impls for at most `few` rows, and for more. Cooperative matrices come first, where the device has them,
/// for more rows than `few` or `before_matrices`, whichever is less. Where an impl cannot take a case
/// (matrices take no f32), the next one is tried.
struct Ranking {
  std::int64_t few = few_rows;
  std::int64_t before_matrices = few_rows;
  std::vector<std::string> for_few, for_many;
};

std::vector<std::string> ranked(const BuildContext& context, const LinearKind& kind, const Ranking& ranking) {
  const std::int64_t rows = references::checked_linear(context.params).rows();
  const bool has_few = rows <= ranking.few;
  std::vector<std::string> impls;
  const bool matrices_pay = !has_few || rows > ranking.before_matrices;
  if (coopmat_operands(context, kind) == Operands::Registers ||
      (matrices_pay && has_matrices(context.device, kind))) {
    impls.emplace_back("coopmat");
  }
  const std::vector<std::string>& others = has_few ? ranking.for_few : ranking.for_many;
  impls.insert(impls.end(), others.begin(), others.end());
  return impls;
}

}  // namespace

Impl gemv_linear(const LinearKind& kind) {
  Impl impl = shared_linear("gemv", kind, !kind.is_real(),
                            [kind](const BuildContext& context) { return sharing_of(context, kind); });
  impl.summary = "several invocations share the K of a few output channels of one row, or of several (rows)";
  impl.tunables = sharing_tunables();
  impl.tunables.push_back(weights_tunable());
  impl.invalid_reason = [kind](const ImplPoint& point) { return gemv_invalid_reason(point, kind); };
  return impl;
}

Impl coop_linear(std::string name, const LinearKind& kind, bool dot) {
  Impl impl = shared_linear(std::move(name), kind, dot, [kind](const BuildContext& context) {
    const bool pairs = has_pairs(references::checked_linear(context.params), kind);
    return Sharing{coop_local_size, coop_workers, 4, pairs ? 2 : 4};
  });
  impl.summary = "64 invocations, 8 of which share the K of four output channels of one row";
  if (dot) impl.needs = {Feature::DotProduct};
  impl.tunables = {weights_tunable(), bake_tunable()};
  return impl;
}

std::vector<Impl> linear_impls(const LinearKind& kind) {
  if (kind.is_real()) {
    const auto choose = [kind](const BuildContext& context) {
      return ranked(
          context, kind,
          {few_rows_of_reals, rows_before_matrices(context, kind), {"gemv", "tiled"}, {"tiled", "gemv"}});
    };
    return {tiled_linear("tiled", kind, false), gemv_linear(kind), coopmat_linear(kind), choosing(choose)};
  }
  const auto choose = [kind](const BuildContext& context) {
    const bool dot = context.device.dot_product_accelerated;
    return ranked(context, kind,
                  {.before_matrices = rows_before_matrices(context, kind),
                   .for_few = {"gemv", "dot4x8", "tiled"},
                   .for_many = dot ? std::vector<std::string>{"dot4x8", "tiled", "gemv"}
                                   : std::vector<std::string>{"tiled", "gemv"}});
  };
  return {tiled_linear("tiled", kind, false), tiled_linear("dot4x8", kind, true), gemv_linear(kind),
          coopmat_linear(kind), choosing(choose)};
}

std::vector<Impl> coop_impls(const LinearKind& kind) {
  const auto choose = [kind](const BuildContext& context) {
    const std::string suffix = context.device.dot_product_accelerated ? "_dot4x8" : "";
    return ranked(context, kind,
                  {.before_matrices = rows_before_matrices(context, kind),
                   .for_few = {"gemv", "coop" + suffix, "tiled" + suffix},
                   .for_many = {"tiled" + suffix, "coop" + suffix}});
  };
  return {tiled_linear("tiled", kind, false),
          tiled_linear("tiled_dot4x8", kind, true),
          coop_linear("coop", kind, false),
          coop_linear("coop_dot4x8", kind, true),
          gemv_linear(kind),
          coopmat_linear(kind),
          choosing(choose)};
}

}  // namespace assay::ops
