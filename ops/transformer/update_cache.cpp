#include "ops/transformer/update_cache.h"

#include "ops/common/grid.h"
#include "ops/common/shader_values.h"
#include "ops/common/tensor_at.h"
#include "ops/transformer/rows.h"

#include <utility>

namespace assay::ops {
namespace {

using references::update_cache_params;
using references::UpdateCache;

constexpr std::int64_t bytes_of_vector = 16, bytes_of_word = 4, values_of_texel = 4;
constexpr double smallest_scale = 0x1p-10, largest_scale = 1;  // of the rows that are there

/// Whether the cache has the order of x, and as many values.
bool is_filled_by_x(const UpdateCache& op) {
  return op.tokens == op.capacity && (!op.by_head || op.heads == 1 || op.tokens == 1);
}

std::vector<TensorSpec> q8_tensors(const UpdateCache& op, TensorSpec x) {
  x.domain.most = largest_cached_value;
  std::vector<TensorSpec> all{std::move(x)};
  for (TensorSpec& before : q8_cache(op)) all.push_back(std::move(before));
  all.push_back(updated(all[1], 1));
  all.back().ends_because = ends_of_cached_rows;
  all.push_back(updated(all[2], 2));
  return all;
}

std::vector<TensorSpec> tensors(const Params& params) {
  const UpdateCache op = update_cache_params(params);
  TensorSpec x = row_tensor("x", op.dtype, op.x_shape());
  if (op.q8) return q8_tensors(op, std::move(x));
  x = or_texture(std::move(x));
  TensorSpec cache = or_texture(row_tensor("cache", op.dtype, op.cache_shape()));
  TensorSpec new_cache = updated(cache, 1);
  if (is_filled_by_x(op)) new_cache.copy_because = "the tokens fill the cache";
  return {std::move(x), std::move(cache), std::move(new_cache)};
}

/// Of the cache only the tokens' rows are touched.
Work work(const Params& params, std::span<const TensorSpec> tensors) {
  const UpdateCache op = update_cache_params(params);
  const std::int64_t values = numel(tensors[0].shape);
  const std::int64_t bytes = values * static_cast<std::int64_t>(size_of(op.dtype));
  if (!op.q8) return {.bytes_read = bytes, .bytes_written = bytes};
  return {.bytes_read = bytes,
          .bytes_written = bytes_of_q8_rows(op),
          .operations = operations_of_cached_value * values};
}

/// How the copying kernel sees the op: in rows, each of one token, which lie next to each other in the cache.
/// A row has all heads, or it has one head where the cache is ordered by heads.
struct CopiedRows {
  std::int64_t heads;   ///< rows per token
  std::int64_t values;  ///< per row
  std::int64_t bytes;   ///< of a row
  std::int64_t unit;    ///< bytes that an invocation copies

  bool shares_words() const { return bytes % bytes_of_word != 0; }
};

CopiedRows copied_rows_of(const UpdateCache& op) {
  CopiedRows rows{.heads = op.by_head ? op.heads : 1, .values = op.by_head ? op.width : op.heads * op.width};
  rows.bytes = rows.values * static_cast<std::int64_t>(size_of(op.dtype));
  rows.unit = rows.bytes % bytes_of_vector == 0 ? bytes_of_vector : bytes_of_word;
  return rows;
}

Program copy_texels(const BuildContext& context, const UpdateCache& op) {
  const std::int64_t quads = div_up(op.width, values_of_texel);
  const std::int64_t count = op.batch * op.tokens * op.heads * quads;
  Dispatch dispatch{.label = "update_cache", .shader = "update_cache_texels.comp"};
  dispatch.defines = {{"BY_HEAD", flag(op.by_head)}, {"REAL_F16", flag(op.dtype == DType::F16)}};
  dispatch.push.add(count).add(quads).add(op.heads).add(op.tokens).add(op.capacity).add(op.start);
  for (const std::int64_t by : {quads, op.heads, op.tokens}) add(dispatch.push, divider(by));
  dispatch.bindings = {binding_of(context, 0), binding_of(context, 2)};
  set_grid(dispatch, context, count);
  return {.dispatches = {std::move(dispatch)}};
}

Program copy(const BuildContext& context) {
  const UpdateCache op = update_cache_params(context.params);
  if (is_texture(context.forms[0])) return copy_texels(context, op);
  const CopiedRows rows = copied_rows_of(op);
  // Where a word has values of two rows, the first and the last word of a run may be partly the run's.
  const std::int64_t row = rows.shares_words() ? rows.values : rows.bytes / rows.unit;
  const std::int64_t run = rows.shares_words() ? op.tokens * rows.values / 2 + 1 : op.tokens * row;
  const std::int64_t count = op.batch * rows.heads * run;
  Dispatch dispatch{.label = "update_cache", .shader = "update_cache.comp"};
  dispatch.defines = {{"HALVES", flag(rows.shares_words())},
                      {"WHOLE_QUADS", flag(rows.unit == bytes_of_vector)}};
  dispatch.push.add(count).add(run).add(row).add(rows.heads).add(op.tokens).add(op.capacity).add(op.start);
  for (const std::int64_t by : {run, row, rows.heads}) add(dispatch.push, divider(by));
  dispatch.bindings = {Resource::tensor(0), Resource::tensor(2)};
  set_grid(dispatch, context, count);
  return {.dispatches = {std::move(dispatch)}};
}

Program quantize(const BuildContext& context) {
  return {.dispatches = {
              quantizing_dispatch(context, update_cache_params(context.params), {.label = "update_cache"})}};
}

std::optional<std::string> copy_invalid_reason(const ImplPoint& point) {
  if (update_cache_params(point.params).q8) return "it copies values, and the cache is int8";
  if (auto reason = mixed_forms(point)) return reason;
  return any_too_large(point.tensors, point.forms);
}

std::optional<std::string> quantize_invalid_reason(const ImplPoint& point) {
  if (!update_cache_params(point.params).q8) return "it makes int8, and the cache has the type of x";
  return any_too_large(point.tensors, point.forms);
}

Impl automatic() {
  return {.name = "auto",
          .summary = "copy, or quantize where the cache is int8",
          .choose = [](const BuildContext& context) -> std::vector<std::string> {
            return {update_cache_params(context.params).q8 ? "quantize" : "copy"};
          }};
}

std::vector<Impl> impls() {
  return {
      automatic(),
      {.name = "copy",
       .summary =
           "one dispatch: 16 bytes at a time where rows have whole ones, else a word; of textures a texel",
       .tunables = {local_size_tunable()},
       .build = copy,
       .invalid_reason = copy_invalid_reason},
      quantizing_impl(quantize, quantize_invalid_reason, nullptr)};
}

std::vector<ParamSpec> params() {
  return {
      integer("B").at_least(1).by_default(std::int64_t{1}).says("batch"),
      integer("S").at_least(1).says("tokens, each of which has a row for each head"),
      integer("Hkv").at_least(1).says("heads of x and of the cache"),
      integer("D").at_least(1).says("values of a head"),
      integer("start_pos").at_least(0).by_default(std::int64_t{0}).says("position of the first token"),
      integer("C")
          .at_least(1)
          .derived([](const Params& earlier) { return earlier.integer("start_pos") + earlier.integer("S"); })
          .says("rows of the cache for a head; by default up to the last token's"),
      choice("layout", {"bshd", "bhsd"})
          .by_default(std::string("bshd"))
          .says("order of the cache's dims: batch, token, head, value, or batch, head, token, value"),
      choice("dtype", {"f32", "f16"}).by_default(std::string("f32")).says("type of x"),
      cache_dtype_param()};
}

}  // namespace

std::vector<TensorSpec> q8_cache(const UpdateCache& op) {
  TensorSpec scale = row_tensor("scale", DType::F32, op.scale_shape());
  scale.domain = {.role = FillRole::Scale, .lo = smallest_scale, .hi = largest_scale};
  return {row_tensor("cache", DType::I8, op.cache_shape()), std::move(scale)};
}

TensorSpec updated(const TensorSpec& before, std::uint32_t index) {
  TensorSpec after = before;
  after.role = TensorSpec::Role::Output;
  after.domain = {};
  after.starts_as = index;
  after.written_in_part = true;
  return after;
}

Dispatch quantizing_dispatch(const BuildContext& context, const UpdateCache& op, const CachedRows& rows) {
  Dispatch dispatch = row_dispatch(context, rows.label, "update_cache_q8.comp", 1, rows.in_quads);
  dispatch.defines.push_back({"BY_HEAD", flag(op.by_head)});
  dispatch.defines.push_back({"TURNED", flag(rows.turned)});
  dispatch.push.add(op.heads).add(op.tokens).add(op.capacity).add(op.start);
  for (const std::int64_t by : {op.heads, op.tokens}) add(dispatch.push, divider(by));
  const auto tensors = static_cast<std::uint32_t>(context.tensors.size());
  dispatch.bindings = {Resource::tensor(0), Resource::tensor(tensors - 2), Resource::tensor(tensors - 1)};
  return dispatch;
}

Impl quantizing_impl(Program (*build)(const BuildContext&),
                     std::optional<std::string> (*invalid_reason)(const ImplPoint&),
                     double (*unit_error)(const BuildContext&)) {
  Impl impl = rows_impl(build, invalid_reason, unit_error);
  impl.name = "quantize";
  return impl;
}

std::int64_t bytes_of_q8_rows(const UpdateCache& op) {
  return op.batch * op.tokens * op.heads * (op.width + static_cast<std::int64_t>(sizeof(float)));
}

ParamSpec cache_dtype_param() {
  return choice("cache_dtype", {"float", "q8"})
      .by_default(std::string("float"))
      .says("type of the cache: that of x, or int8 with a scale for each row of each head");
}

Op update_cache() {
  return {
      .name = "update_cache",
      .summary = "writes the tokens' keys or values into a cache at their positions, and nothing else",
      .params = params(),
      .tensors = tensors,
      .reference = references::update_cache,
      .work = work,
      .tokens = [](const Params& params) { return params.integer("B") * params.integer("S"); },
      .impls = impls(),
  };
}

}  // namespace assay::ops
