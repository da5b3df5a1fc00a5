#include "ops/transformer/rotary.h"

#include "ops/common/grid.h"
#include "ops/common/shader_values.h"
#include "ops/common/tensor_at.h"
#include "ops/common/unit_error.h"

#include <optional>
#include <string>
#include <utility>

namespace assay::ops {
namespace {

using references::RotaryEmbedding;

constexpr std::int64_t quad = 4;
constexpr std::int64_t operations = 3;  // of a value: two products and their sum

bool are_pairs_of_quads(const RotaryEmbedding& op) {
  return op.turned % (op.interleaved ? quad : 2 * quad) == 0;
}

/// The quads that an invocation turns: two where there is an even number of them, as there is where pairs are
/// apart.
std::int64_t turned_quads(const RotaryEmbedding& op) {
  return op.turned % (2 * quad) == 0 ? 2 : 1;
}

/// Invocations for the quads of a head.
std::int64_t parts_of_head(const RotaryEmbedding& op, bool has_quads) {
  const std::int64_t all = div_up(op.width, quad);
  return has_quads ? all - (op.turned / quad - op.turned / quad / turned_quads(op)) : all;
}

std::optional<std::string> invalid_reason(const ImplPoint& point) {
  if (auto reason = unequal_forms(point, 0, point.tensors.size() - 1)) return reason;
  return any_too_large(point.tensors, point.forms);
}

}  // namespace

TensorSpec rotary_table(std::string name, const RotaryEmbedding& op) {
  return {.name = std::move(name),
          .constant = true,
          .dtype = DType::F32,
          .shape = op.table_shape(),
          .forms = {rotary_form},
          .domain = {.most = 1}};
}

Work rotary_work(const RotaryEmbedding& op, const TensorSpec& x) {
  const std::int64_t values = numel(x.shape);
  const std::int64_t bytes = values * static_cast<std::int64_t>(size_of(op.dtype));
  return {.bytes_read = bytes + 2 * op.tokens * (op.turned / 2) * 4,
          .bytes_written = bytes,
          .operations = operations * (values / op.width * op.turned)};
}

Dispatch rotary_dispatch(const BuildContext& context, const RotaryEmbedding& op, const RotaryDispatch& of) {
  const Form form = context.forms[of.bindings[0]];
  // In textures heads always begin with a quad.
  const bool quads = is_texture(form) ? are_pairs_of_quads(op) : turns_in_quads(op);
  const std::int64_t parts = parts_of_head(op, quads);
  const std::int64_t count = quads || is_texture(form) ? op.batch * op.tokens * op.heads * parts : of.words;
  Dispatch dispatch{.label = of.label, .shader = "rotary_embedding.comp"};
  dispatch.defines = {{"F16", flag(op.dtype == DType::F16)},
                      {"INTERLEAVED", flag(op.interleaved)},
                      {"QUADS", flag(quads)},
                      {"TURNED_QUADS", std::to_string(turned_quads(op))},
                      texture_define(form)};
  dispatch.push.add(count).add(of.values).add(parts).add(op.width).add(op.turned);
  dispatch.push.add(op.heads).add(op.tokens).add(op.start);
  for (const std::int64_t by : {parts, op.width, op.heads, op.tokens}) {
    add(dispatch.push, divider(by));
  }
  for (const std::uint32_t tensor : of.bindings) dispatch.bindings.emplace_back(Resource::tensor(tensor));
  set_grid(dispatch, context, count);
  return dispatch;
}

bool turns_in_quads(const RotaryEmbedding& op) {
  return op.width % quad == 0 && are_pairs_of_quads(op);
}

double turned_value_error(const BuildContext& /*context*/) {
  return gamma_of(2);
}

ParamSpec rotary_pairs_param() {
  return choice("pairs", {"half_split", "interleaved"})
      .by_default(std::string("half_split"))
      .says("which values turn together: i and i + rotary_dim / 2, or 2i and 2i + 1");
}

Impl rotary_impl(std::function<Program(const BuildContext&)> build) {
  return {.name = "pairs",
          .summary = "one dispatch: an invocation turns four pairs, two, or what is in a word or texel",
          .tunables = {local_size_tunable()},
          .build = std::move(build),
          .invalid_reason = invalid_reason,
          .unit_error = turned_value_error};
}

}  // namespace assay::ops
