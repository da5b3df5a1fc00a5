#include "references/transformer/rotary_update_cache.h"

#include "harness/op/op.h"
#include "ops/common/grid.h"
#include "ops/common/shader_values.h"
#include "ops/common/tensor_at.h"
#include "ops/transformer/rotary.h"

#include <utility>

namespace assay::ops {
namespace {

using references::rotary_update_cache_params;
using references::RotaryUpdateCache;

std::vector<TensorSpec> tensors(const Params& params) {
  const RotaryUpdateCache op = rotary_update_cache_params(params);
  TensorSpec x{.name = "x", .dtype = op.rotary.dtype, .shape = op.update.x_shape(), .forms = {rotary_form}};
  TensorSpec cache = x;
  cache.name = "cache";
  cache.shape = op.update.cache_shape();
  TensorSpec after = cache;
  after.role = TensorSpec::Role::Output;
  after.output_class = OutputClass::Bounded;
  after.starts_as = 3;
  after.written_in_part = true;
  return {std::move(x), rotary_table("cos", op.rotary), rotary_table("sin", op.rotary), std::move(cache),
          std::move(after)};
}

/// Of the cache only the tokens' rows are touched.
Work work(const Params& params, std::span<const TensorSpec> tensors) {
  return rotary_work(rotary_update_cache_params(params).rotary, tensors[0]);
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
      choice("dtype", {"f32", "f16"})
          .by_default(std::string("f32"))
          .says("type of x and of the cache; the tables are f32")};
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
      .impls = {rotary_impl(pairs)},
  };
}

}  // namespace assay::ops
