#include "references/transformer/rotary_embedding.h"

#include "harness/op/op.h"
#include "ops/common/grid.h"
#include "ops/common/shader_values.h"
#include "ops/common/tensor_at.h"
#include "ops/common/unit_error.h"

#include <algorithm>
#include <utility>

namespace assay::ops {
namespace {

using references::rotary_embedding_params;
using references::RotaryEmbedding;

constexpr std::int64_t quad = 4;
constexpr std::int64_t operations = 3;  // of a value: two products and their sum

constexpr Form buffer{Storage::Buffer, Layout::WP};

std::vector<TensorSpec> tensors(const Params& params) {
  const RotaryEmbedding op = rotary_embedding_params(params);
  TensorSpec x{.name = "x", .dtype = op.dtype, .shape = params.ints("shape"), .forms = {buffer}};
  TensorSpec cos{.name = "cos",
                 .constant = true,
                 .dtype = DType::F32,
                 .shape = op.table_shape(),
                 .forms = {buffer},
                 .domain = {.most = 1}};
  TensorSpec sin = cos;
  sin.name = "sin";
  TensorSpec y = x;
  y.name = "y";
  y.role = TensorSpec::Role::Output;
  y.output_class = OutputClass::Bounded;
  return {std::move(x), std::move(cos), std::move(sin), std::move(y)};
}

/// Of the tables only the rows of the tokens' positions are read.
Work work(const Params& params, std::span<const TensorSpec> tensors) {
  const RotaryEmbedding op = rotary_embedding_params(params);
  const std::int64_t values = numel(tensors[0].shape);
  const std::int64_t bytes = values * static_cast<std::int64_t>(size_of(op.dtype));
  return {.bytes_read = bytes + 2 * op.tokens * (op.turned / 2) * 4,
          .bytes_written = bytes,
          .operations = operations * (values / op.width * op.turned)};
}

/// Whether the a's and b's of pairs, the tables' rows and the heads are whole quads.
bool has_quads(const RotaryEmbedding& op) {
  return op.width % quad == 0 && op.turned % (op.interleaved ? quad : 2 * quad) == 0;
}

Program pairs(const BuildContext& context) {
  const RotaryEmbedding op = rotary_embedding_params(context.params);
  const bool quads = has_quads(op);
  const std::int64_t turning = op.turned / (op.interleaved ? quad : 2 * quad);
  const std::int64_t parts = turning + (op.width - op.turned) / quad;
  const Physical x = context.physical(0);
  const std::int64_t count = quads ? op.batch * op.tokens * op.heads * parts : x.bytes() / 4;
  Dispatch dispatch{.label = "rotary_embedding", .shader = "rotary_embedding.comp"};
  dispatch.defines = {
      {"F16", flag(op.dtype == DType::F16)}, {"INTERLEAVED", flag(op.interleaved)}, {"QUADS", flag(quads)}};
  dispatch.push.add(count).add(x.elements()).add(parts).add(op.width).add(op.turned);
  dispatch.push.add(op.heads).add(op.tokens).add(op.start);
  for (const std::int64_t by : {std::max<std::int64_t>(parts, 1), op.width, op.heads, op.tokens}) {
    add(dispatch.push, divider(by));
  }
  dispatch.bindings = {Resource::tensor(0), Resource::tensor(1), Resource::tensor(2), Resource::tensor(3)};
  set_grid(dispatch, context, count);
  return {.dispatches = {std::move(dispatch)}};
}

/// The rounding of a product, and of the sum or difference.
double unit_error(const BuildContext&) {
  return gamma_of(2);
}

std::optional<std::string> invalid_reason(const ImplPoint& point) {
  return any_too_large(point.tensors, point.forms);
}

std::vector<ParamSpec> params() {
  return {shape("shape", rank(4, 4)).says("of x and y: batch, tokens, heads, values of a head"),
          choice("dtype", {"f32", "f16"})
              .by_default(std::string("f32"))
              .says("type of x and y; the tables are f32"),
          choice("pairs", {"half_split", "interleaved"})
              .by_default(std::string("half_split"))
              .says("which values turn together: i and i + rotary_dim / 2, or 2i and 2i + 1"),
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
      .impls = {{.name = "pairs",
                 .summary = "one dispatch: an invocation turns four pairs, two, or what is in a word",
                 .tunables = {local_size_tunable()},
                 .build = pairs,
                 .invalid_reason = invalid_reason,
                 .unit_error = unit_error}},
  };
}

}  // namespace assay::ops
