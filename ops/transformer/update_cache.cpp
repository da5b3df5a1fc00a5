#include "references/transformer/update_cache.h"

#include "harness/op/op.h"
#include "ops/common/grid.h"
#include "ops/common/shader_values.h"
#include "ops/common/tensor_at.h"

#include <utility>

namespace assay::ops {
namespace {

using references::update_cache_params;
using references::UpdateCache;

constexpr Form buffer{Storage::Buffer, Layout::WP};
constexpr std::int64_t bytes_of_vector = 16, bytes_of_word = 4;

/// Whether the cache has the order of x, and as many values.
bool is_filled_by_x(const UpdateCache& op) {
  return op.tokens == op.capacity && (!op.by_head || op.heads == 1 || op.tokens == 1);
}

std::vector<TensorSpec> tensors(const Params& params) {
  const UpdateCache op = update_cache_params(params);
  TensorSpec x{.name = "x", .dtype = op.dtype, .shape = params.ints("shape"), .forms = {buffer}};
  TensorSpec before{.name = "cache", .dtype = op.dtype, .shape = op.cache_shape(), .forms = {buffer}};
  TensorSpec cache = before;
  cache.role = TensorSpec::Role::Output;
  cache.starts_as = 1;
  cache.written_in_part = true;
  if (is_filled_by_x(op)) cache.copy_because = "the tokens fill the cache";
  return {std::move(x), std::move(before), std::move(cache)};
}

/// Of the cache only the tokens' positions are touched.
Work work(const Params&, std::span<const TensorSpec> tensors) {
  const std::int64_t bytes = numel(tensors[0].shape) * static_cast<std::int64_t>(size_of(tensors[0].dtype));
  return {.bytes_read = bytes, .bytes_written = bytes};
}

/// How a kernel sees the op: in rows, each of one token, which lie next to each other in the cache. A row has
/// all heads, or it has one head where the cache is ordered by heads.
struct Rows {
  std::int64_t heads;   ///< rows per token
  std::int64_t values;  ///< per row
  std::int64_t bytes;   ///< of a row
  std::int64_t unit;    ///< bytes that an invocation copies

  bool shares_words() const { return bytes % bytes_of_word != 0; }
};

Rows rows_of(const UpdateCache& op) {
  Rows rows{.heads = op.by_head ? op.heads : 1, .values = op.by_head ? op.width : op.heads * op.width};
  rows.bytes = rows.values * static_cast<std::int64_t>(size_of(op.dtype));
  rows.unit = rows.bytes % bytes_of_vector == 0 ? bytes_of_vector : bytes_of_word;
  return rows;
}

Program copy(const BuildContext& context) {
  const UpdateCache op = update_cache_params(context.params);
  const Rows rows = rows_of(op);
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

std::optional<std::string> invalid_reason(const ImplPoint& point) {
  return any_too_large(point.tensors, point.forms);
}

std::vector<ParamSpec> params() {
  return {shape("shape", rank(4, 4)).says("of x: batch, tokens, heads, values of a head"),
          choice("dtype", {"f32", "f16"}).by_default(std::string("f32")).says("type of x and the cache"),
          integer("capacity").at_least(1).says("positions of the cache"),
          integer("start_pos").at_least(0).by_default(std::int64_t{0}).says("position of the first token"),
          choice("layout", {"bshd", "bhsd"})
              .by_default(std::string("bshd"))
              .says("order of the cache: its positions before its heads, or after them")};
}

}  // namespace

Op update_cache() {
  return {
      .name = "update_cache",
      .summary = "writes the tokens' keys or values into a cache at their positions, and nothing else",
      .params = params(),
      .tensors = tensors,
      .reference = references::update_cache,
      .work = work,
      .tokens = [](const Params& params) { return params.ints("shape")[0] * params.ints("shape")[1]; },
      .impls = {{.name = "copy",
                 .summary = "one dispatch: 16 bytes at a time where rows have whole ones, else a word",
                 .tunables = {local_size_tunable()},
                 .build = copy,
                 .invalid_reason = invalid_reason}},
  };
}

}  // namespace assay::ops
