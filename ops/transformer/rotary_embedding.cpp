#include "references/transformer/rotary_embedding.h"

#include "harness/op/op.h"
#include "ops/common/grid.h"
#include "ops/common/tensor_at.h"
#include "ops/transformer/rotary.h"

#include <utility>

namespace assay::ops {
namespace {

using references::rotary_embedding_params;
using references::RotaryEmbedding;

std::vector<TensorSpec> tensors(const Params& params) {
  const RotaryEmbedding op = rotary_embedding_params(params);
  TensorSpec x{.name = "x",
               .dtype = op.dtype,
               .shape = params.ints("shape"),
               .forms = {rotary_form, {Storage::Texture3D, Layout::WP}}};
  TensorSpec y = x;
  y.name = "y";
  y.role = TensorSpec::Role::Output;
  y.output_class = OutputClass::Bounded;
  return {std::move(x), rotary_table("cos", op), rotary_table("sin", op), std::move(y)};
}

Work work(const Params& params, std::span<const TensorSpec> tensors) {
  return rotary_work(rotary_embedding_params(params), tensors[0]);
}

Program pairs(const BuildContext& context) {
  const Physical x = context.physical(0);
  const RotaryDispatch of{
      .label = "rotary_embedding", .words = x.bytes() / 4, .values = x.elements(), .bindings = {0, 1, 2, 3}};
  return {.dispatches = {rotary_dispatch(context, rotary_embedding_params(context.params), of)}};
}

std::vector<ParamSpec> params() {
  return {shape("shape", rank(4, 4)).says("of x and y: batch, tokens, heads, values of a head"),
          choice("dtype", {"f32", "f16"})
              .by_default(std::string("f32"))
              .says("type of x and y; the tables are f32"),
          rotary_pairs_param(),
          integer("rotary_dim")
              .at_least(2)
              .derived([](const Params& earlier) { return earlier.ints("shape")[3] / 2 * 2; })
              .says("values of a head that turn, an even number; by default all"),
          integer("start_pos").at_least(0).by_default(std::int64_t{0}).says("position of the first token"),
          integer("positions")
              .at_least(1)
              .derived([](const Params& earlier) {
                return earlier.integer("start_pos") + earlier.ints("shape")[1];
              })
              .says("rows of the tables; by default up to the last token's")};
}

}  // namespace

Op rotary_embedding() {
  return {
      .name = "rotary_embedding",
      .summary = "turns pairs of the values of each head by the angle of their token's position",
      .params = params(),
      .tensors = tensors,
      .reference = references::rotary_embedding,
      .work = work,
      .tokens = [](const Params& params) { return params.ints("shape")[0] * params.ints("shape")[1]; },
      .impls = {rotary_impl(pairs)},
  };
}

}  // namespace assay::ops
