#include "ops/transformer/rows.h"

#include "ops/common/cpu_loops.h"
#include "ops/common/grid.h"
#include "ops/common/shader_values.h"
#include "ops/common/tensor_at.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace assay::ops {
namespace {

constexpr std::int64_t quad = 4;
constexpr std::int64_t most_kept = 8;  // MOST_KEPT of shaders/transformer/row_reduction.glslh

constexpr std::int64_t least_columns = 8;  // neighbouring invocations of a row write 64 bytes together
constexpr std::int64_t most_columns = 512;
// The most rows that leave a large device idle unless many invocations work on each.
constexpr std::int64_t few_rows = 512;
// The longest row of which four quads an invocation are better, however many rows there are.
constexpr std::int64_t quads_of_short_row = 512;
constexpr std::int64_t quads_of_few = 4;  // per invocation
constexpr std::int64_t quads_of_many = 8;

std::int64_t default_columns(std::int64_t rows, std::int64_t quads) {
  const std::int64_t each = rows <= few_rows || quads <= quads_of_short_row ? quads_of_few : quads_of_many;
  return std::clamp(power_of_two_from(div_up(quads, each)), std::min(power_of_two_from(quads), least_columns),
                    most_columns);
}

std::uint32_t log2_of(std::int64_t power) {
  return static_cast<std::uint32_t>(std::countr_zero(static_cast<std::uint64_t>(power)));
}

std::vector<Tunable> row_tunables() {
  Tunable local = local_size_tunable();
  local.doc =
      "invocations of a workgroup, at least `columns`, rounded down to a power of two; by default 128";
  return {{.name = "columns",
           .fallback = 0,
           .min = 1,
           .max = 1024,
           .doc = "invocations per row, rounded down to a power of two; by default chosen from the shape"},
          std::move(local)};
}

}  // namespace

std::int64_t RowSharing::quads() const {
  return div_up(width, quad) + (width % quad == quad - 1 ? 1 : 0);
}

std::int64_t RowSharing::steps() const {
  return div_up(quads(), columns);
}

bool RowSharing::is_complete(std::int64_t invocations) const {
  return invocations == rows * columns && width % (quad * columns) == 0 && steps() <= most_kept;
}

RowSharing row_sharing(const BuildContext& context) {
  const Shape& shape = context.tensors[0].shape;
  RowSharing sharing{.rows = numel(shape) / shape.back(), .width = shape.back()};
  const std::int64_t most = most_invocations(context.device);
  const std::int64_t columns = context.tuned("columns", default_columns(sharing.rows, sharing.quads()));
  sharing.columns = power_of_two_within(std::min(columns, most));
  sharing.local = local_size_of_rows(context, sharing.columns);
  return sharing;
}

std::int64_t additions_of_row(const BuildContext& context) {
  const RowSharing sharing = row_sharing(context);
  const std::int64_t subgroup = std::max<std::int64_t>(context.device.subgroup_size, 1);
  const std::int64_t within = sharing.steps() + 2;  // quad to quad, then the elements of a quad
  const std::int64_t between = sharing.columns <= subgroup ? 0 : sharing.columns / subgroup;
  return within + log2_of(sharing.columns) + between;
}

Dispatch row_dispatch(const BuildContext& context, std::string label, std::string shader, std::int64_t arrays,
                      bool in_quads) {
  const RowSharing sharing = row_sharing(context);
  Dispatch dispatch{.label = std::move(label), .shader = std::move(shader)};
  const bool is_f16 = context.tensors[0].dtype == DType::F16;
  const bool is_whole = in_quads && sharing.width % quad == 0;
  dispatch.local_size = {static_cast<std::uint32_t>(sharing.local), 1, 1};
  dispatch.workgroups = fold_grid(sharing.rows * sharing.columns, dispatch.local_size[0],
                                  context.device.max_workgroup_count[0]);
  const std::int64_t invocations = sharing.local * dispatch.workgroups[0] * dispatch.workgroups[1];
  const bool is_complete = sharing.is_complete(invocations);
  const bool in_pairs =
      is_f16 && is_whole && is_complete && sharing.steps() % 2 == 0 && !is_texture(context.forms[0]);
  dispatch.defines = {{"F16", flag(is_f16)},
                      {"WHOLE_ROWS", flag(is_whole)},
                      {"PAIRS", flag(in_pairs)},
                      texture_define(context.forms[0])};
  dispatch.constants = {{"column_bits", log2_of(sharing.columns)},
                        {"kept", static_cast<std::uint32_t>(std::min(sharing.steps(), most_kept))},
                        {"complete", is_complete ? 1U : 0U}};
  if (is_texture(context.forms[0])) {
    dispatch.constants.push_back({"slice_height", static_cast<std::uint32_t>(context.physical(0).dims().h)});
  }
  dispatch.push.add(sharing.rows).add(sharing.width);
  use_subgroups(dispatch, context.device);
  dispatch.shared_bytes = static_cast<std::uint32_t>(sharing.local * 4 * arrays);
  for (std::uint32_t i = 0; i < context.tensors.size(); ++i) {
    dispatch.bindings.emplace_back(Resource::tensor(i));
  }
  return dispatch;
}

std::optional<std::string> rows_invalid_reason(const ImplPoint& point) {
  if (auto reason = mixed_forms(point, writes_where_it_reads)) return reason;
  return any_too_large(point.tensors, point.forms);
}

/// Kernels load a row, go over it at most twice more, and store it; reductions take an iteration for each
/// invocation of the row at most.
std::optional<std::string> rows_unsupported_reason(const BuildContext& context) {
  constexpr std::int64_t passes = 4, reductions = 2;
  const RowSharing sharing = row_sharing(context);
  const std::int64_t of_pass = turns(sharing.steps()) + 1;  // quads that are kept have a loop of their own
  return loops_unsupported_reason(passes * of_pass + reductions * turns(sharing.columns), context.device);
}

Impl rows_impl(Program (*build)(const BuildContext&),
               std::optional<std::string> (*invalid_reason)(const ImplPoint&),
               double (*unit_error)(const BuildContext&)) {
  return {.name = "rows",
          .summary = "one dispatch: a row is read once, as far as its invocations can keep it",
          .tunables = row_tunables(),
          .build = build,
          .invalid_reason = invalid_reason,
          .unsupported_reason = rows_unsupported_reason,
          .unit_error = unit_error};
}

TensorSpec row_tensor(std::string name, DType dtype, const Shape& shape) {
  return {.name = std::move(name), .dtype = dtype, .shape = shape, .forms = {{Storage::Buffer, Layout::WP}}};
}

TensorSpec or_texture(TensorSpec tensor) {
  tensor.forms.push_back({Storage::Texture3D, Layout::WP});
  return tensor;
}

}  // namespace assay::ops
