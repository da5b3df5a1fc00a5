#include "references/transformer/rotary_update_cache.h"

#include "harness/op/op.h"
#include "ops/common/grid.h"
#include "ops/common/shader_values.h"
#include "ops/common/tensor_at.h"
#include "ops/common/unit_error.h"
#include "ops/transformer/rotary.h"
#include "ops/transformer/rows.h"
#include "ops/transformer/update_cache.h"

#include <utility>

namespace assay::ops {
namespace {

using references::rotary_update_cache_params;
using references::RotaryUpdateCache;

/// The codes are banded and the scales bounded, because devices round the values that turn differently.
std::vector<TensorSpec> q8_tensors(const RotaryUpdateCache& op, std::vector<TensorSpec> inputs) {
  inputs.front().domain.most = largest_cached_value;
  for (TensorSpec& before : q8_cache(op.update)) inputs.push_back(std::move(before));
  TensorSpec codes = updated(inputs[3], 3), scale = updated(inputs[4], 4);
  codes.output_class = OutputClass::Banded;
  codes.domain = {.lo = -references::largest_code, .hi = references::largest_code};
  codes.ends_because = ends_of_cached_rows;
  scale.output_class = OutputClass::Bounded;
  inputs.push_back(std::move(codes));
  inputs.push_back(std::move(scale));
  return inputs;
}

std::vector<TensorSpec> tensors(const Params& params) {
  const RotaryUpdateCache op = rotary_update_cache_params(params);
  TensorSpec x = row_tensor("x", op.rotary.dtype, op.update.x_shape());
  std::vector<TensorSpec> inputs{std::move(x), rotary_table("cos", op.rotary),
                                 rotary_table("sin", op.rotary)};
  if (op.update.q8) return q8_tensors(op, std::move(inputs));
  inputs.push_back(row_tensor("cache", op.rotary.dtype, op.update.cache_shape()));
  inputs.push_back(updated(inputs[3], 3));
  inputs.back().output_class = OutputClass::Bounded;
  return inputs;
}

/// Of the cache only the tokens' rows are touched.
Work work(const Params& params, std::span<const TensorSpec> tensors) {
  const RotaryUpdateCache op = rotary_update_cache_params(params);
  Work work = rotary_work(op.rotary, tensors[0]);
  if (!op.update.q8) return work;
  work.bytes_written = bytes_of_q8_rows(op.update);
  work.operations += operations_of_cached_value * numel(tensors[0].shape);
  return work;
}

Program pairs(const BuildContext& context) {
  const RotaryUpdateCache op = rotary_update_cache_params(context.params);
  const bool is_f16 = op.rotary.dtype == DType::F16;
  const bool shares_words = is_f16 && op.rotary.width % 2 != 0;
  const std::int64_t values = numel(context.tensors[0].shape);
  const RotaryDispatch of{.label = "rotary_update_cache",
                          .words = is_f16 && !shares_words ? values / 2 : values,
                          .values = values,
                          .bindings = {0, 1, 2, 4}};
  Dispatch dispatch = rotary_dispatch(context, op.rotary, of);
  dispatch.defines.push_back({"CACHE", "1"});
  dispatch.defines.push_back({"BY_HEAD", flag(op.update.by_head)});
  dispatch.defines.push_back({"HALVES", flag(shares_words)});
  dispatch.push.add(op.update.capacity);
  return {.dispatches = {std::move(dispatch)}};
}

Program quantize(const BuildContext& context) {
  const RotaryUpdateCache op = rotary_update_cache_params(context.params);
  const CachedRows rows{
      .label = "rotary_update_cache", .turned = true, .in_quads = turns_in_quads(op.rotary)};
  Dispatch dispatch = quantizing_dispatch(context, op.update, rows);
  dispatch.defines.push_back({"INTERLEAVED", flag(op.rotary.interleaved)});
  dispatch.push.add(op.rotary.turned);
  dispatch.bindings.emplace_back(Resource::tensor(1));
  dispatch.bindings.emplace_back(Resource::tensor(2));
  return {.dispatches = {std::move(dispatch)}};
}

bool has_q8_cache(const Params& params) {
  return rotary_update_cache_params(params).update.q8;
}

std::optional<std::string> pairs_invalid_reason(const ImplPoint& point) {
  if (has_q8_cache(point.params)) return "it makes values of the type of x, and the cache is int8";
  return any_too_large(point.tensors, point.forms);
}

std::optional<std::string> quantize_invalid_reason(const ImplPoint& point) {
  if (!has_q8_cache(point.params)) return "it makes int8, and the cache has the type of x";
  return any_too_large(point.tensors, point.forms);
}

std::vector<Impl> impls() {
  Impl automatic{.name = "auto",
                 .summary = "pairs, or quantize where the cache is int8",
                 .choose = [](const BuildContext& context) -> std::vector<std::string> {
                   return {has_q8_cache(context.params) ? "quantize" : "pairs"};
                 }};
  Impl turning = rotary_impl(pairs);
  turning.invalid_reason = pairs_invalid_reason;
  return {std::move(automatic), std::move(turning),
          quantizing_impl(quantize, quantize_invalid_reason, turned_value_error)};
}

std::vector<ParamSpec> params() {
  return {
      integer("B").at_least(1).by_default(std::int64_t{1}).says("batch"),
      integer("S").at_least(1).says("tokens, each of which has a row for each head"),
      integer("Hkv").at_least(1).says("heads of x and of the cache"),
      integer("D").at_least(2).says("values of a head"),
      rotary_pairs_param(),
      integer("rotary_dim")
          .at_least(2)
          .derived([](const Params& earlier) { return earlier.integer("D") / 2 * 2; })
          .says("values of a head that turn, an even number; by default all"),
      integer("start_pos").at_least(0).by_default(std::int64_t{0}).says("position of the first token"),
      integer("C")
          .at_least(1)
          .derived([](const Params& earlier) { return earlier.integer("start_pos") + earlier.integer("S"); })
          .says("rows of the cache for a head; by default up to the last token's"),
      integer("positions")
          .at_least(1)
          .derived([](const Params& earlier) { return earlier.integer("start_pos") + earlier.integer("S"); })
          .says("rows of the tables; by default up to the last token's"),
      choice("layout", {"bshd", "bhsd"})
          .by_default(std::string("bshd"))
          .says("order of the cache's dims: batch, token, head, value, or batch, head, token, value"),
      choice("dtype", {"f32", "f16"}).by_default(std::string("f32")).says("type of x; the tables are f32"),
      cache_dtype_param()};
}

}  // namespace

Op rotary_update_cache() {
  return {
      .name = "rotary_update_cache",
      .summary = "rotary_embedding whose rows are written into a cache at their positions, and nothing else",
      .params = params(),
      .tensors = tensors,
      .reference = references::rotary_update_cache,
      .work = work,
      .tokens = [](const Params& params) { return params.integer("B") * params.integer("S"); },
      .impls = impls(),
  };
}

}  // namespace assay::ops
