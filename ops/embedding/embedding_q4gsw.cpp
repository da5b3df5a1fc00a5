#include "references/embedding/embedding_q4gsw.h"

#include "harness/op/op.h"
#include "ops/common/grid.h"
#include "ops/common/shader_values.h"
#include "ops/common/tensor_at.h"

#include <algorithm>

namespace assay::ops {
namespace {

using references::embedding_q4gsw_params;
using references::EmbeddingQ4gsw;

constexpr std::int64_t values_in_a_word = 8;
constexpr std::int64_t values_in_a_texel = 4;

constexpr Form buffer{Storage::Buffer, Layout::WP};

std::vector<TensorSpec> tensors(const Params& params) {
  const EmbeddingQ4gsw table = embedding_q4gsw_params(params);
  return {{.name = "w",
           .dtype = DType::U8,
           .shape = table.w_shape(),
           .forms = {buffer, {Storage::Texture2D, Layout::WP}},
           .domain = {FillRole::Data, 0, 255}},
          {.name = "w_scale",
           .dtype = DType::F32,
           .shape = table.scale_shape(),
           .forms = {buffer},
           .domain = {FillRole::Scale, 0, 0}},
          {.name = "indices",
           .dtype = DType::I32,
           .shape = table.indices,
           .forms = {buffer},
           .domain = {FillRole::Index, 0, static_cast<double>(table.vocab - 1)}},
          {.name = "y",
           .role = TensorSpec::Role::Output,
           .dtype = table.dtype,
           .shape = table.y_shape(),
           .forms = {buffer, {Storage::Texture3D, Layout::WP}},
           .output_class = table.dtype == DType::F16 ? OutputClass::Bounded : OutputClass::Exact}};
}

/// Counts only rows that are looked up: as many as there are indices, and each row once where there are more
/// indices than rows.
Work work(const Params& params, std::span<const TensorSpec> tensors) {
  const EmbeddingQ4gsw table = embedding_q4gsw_params(params);
  const std::int64_t lookups = numel(table.indices);
  const std::int64_t row_bytes = table.dim / 2 + table.dim / table.group_size * 4;
  const std::int64_t values = numel(tensors.back().shape);
  return {.bytes_read = lookups * 4 + std::min(lookups, table.vocab) * row_bytes,
          .bytes_written = values * static_cast<std::int64_t>(size_of(table.dtype)),
          .operations = 2 * values};
}

/// `values`: values of one vector.
PushConstants push_constants(const EmbeddingQ4gsw& table, std::int64_t values, std::int64_t height) {
  const std::int64_t columns = table.dim / values;
  PushConstants push;
  push.add(numel(table.indices) * columns).add(columns).add(height);
  push.add(table.dim / values_in_a_word).add(table.dim / table.group_size);
  add(push, divider(columns));
  add(push, divider(table.group_size / values));
  return push;
}

void use_buffer(Dispatch& dispatch, const BuildContext& context, const EmbeddingQ4gsw& table) {
  const std::int64_t values = table.dtype == DType::F16 ? 8 : 4;  // 16 bytes
  dispatch.push = push_constants(table, values, 1);
  set_vector_grid(dispatch, context, numel(table.indices) * (table.dim / values));
}

void use_texture(Dispatch& dispatch, const BuildContext& context, const EmbeddingQ4gsw& table) {
  const std::array<std::uint32_t, 3> extent = context.physical(3).extent();
  dispatch.push = push_constants(table, values_in_a_texel, extent[1]);
  set_texture_grid(dispatch, context, extent);
}

Program gather(const BuildContext& context) {
  const EmbeddingQ4gsw table = embedding_q4gsw_params(context.params);
  Dispatch dispatch;
  dispatch.label = "embedding";
  dispatch.shader = "embedding_q4gsw.comp";
  dispatch.defines = {{"W_TEXTURE", flag(is_texture(context.forms[0]))},
                      {"Y_TEXTURE", flag(is_texture(context.forms[3]))},
                      {"Y_F16", flag(table.dtype == DType::F16)}};
  for (std::uint32_t i = 0; i < context.tensors.size(); ++i) dispatch.bindings.push_back(Resource::tensor(i));
  if (is_texture(context.forms[3])) {
    use_texture(dispatch, context, table);
  } else {
    use_buffer(dispatch, context, table);
  }
  return {.dispatches = {std::move(dispatch)}};
}

std::optional<std::string> invalid_reason(const ImplPoint& point) {
  return any_too_large(point.tensors, point.forms);
}

std::vector<Tunable> tunables() {
  std::vector<Tunable> all = local_extent_tunables();
  all.insert(all.begin(), local_size_tunable());
  all.push_back(vectors_tunable());
  return all;
}

}  // namespace

Op embedding_q4gsw() {
  return {
      .name = "embedding_q4gsw",
      .summary = "rows of a table of 4-bit values with one scale per group, looked up and dequantized",
      .params =
          {shape("indices", rank(1, 3)).says("shape of the indices; y has one dim more, which is `dim`"),
           integer("vocab").at_least(1).says("rows of the table; indices are below it"),
           integer("dim").at_least(8).says("values of a row: a multiple of group_size"),
           integer("group_size")
               .at_least(8)
               .by_default(std::int64_t{32})
               .says("neighbours in a row that share a scale: a multiple of 8"),
           choice("dtype", {"f32", "f16"}).by_default(std::string("f32")).says("type of y")},
      .tensors = tensors,
      .reference = references::embedding_q4gsw,
      .work = work,
      .tokens = [](const Params& params) { return numel(embedding_q4gsw_params(params).indices); },
      .impls = {{.name = "gather",
                 .summary = "each invocation writes 16 bytes of y, up to four times, or one texel",
                 .tunables = tunables(),
                 .build = gather,
                 .invalid_reason = invalid_reason}},
  };
}

}  // namespace assay::ops
