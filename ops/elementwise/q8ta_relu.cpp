#include "harness/op/op.h"
#include "ops/common/grid.h"
#include "ops/common/shader_values.h"
#include "ops/common/tensor_at.h"
#include "ops/relayout/relayout.h"
#include "references/elementwise/elementwise.h"

namespace assay::ops {
namespace {

constexpr std::int64_t operations = 5;  // -, *, max, *, +

bool is_identity(const std::array<std::int8_t, 256>& answers) {
  for (std::size_t q = 0; q < answers.size(); ++q) {
    if (answers[q] != static_cast<std::int8_t>(static_cast<std::uint8_t>(q))) return false;
  }
  return true;
}

std::vector<TensorSpec> tensors(const Params& params) {
  const Shape& shape = params.ints("shape");
  const auto answers = references::rectified_bytes(params.qparams("x"), params.qparams("y"));
  TensorSpec x{.name = "x",
               .dtype = DType::I8,
               .shape = shape,
               .forms = int8_forms(),
               .domain = {FillRole::Data, -128, 127}};
  TensorSpec y{.name = "y",
               .role = TensorSpec::Role::Output,
               .dtype = DType::I8,
               .shape = shape,
               .forms = int8_forms()};
  // Answers grow with q, so those for -128 and 127 are the smallest and the largest.
  if (answers[0x80] == answers[0x7f])
    y.constant_because = "with these qparams every value gives the same integer";
  if (is_identity(answers)) y.copy_because = "with these qparams no integer changes";
  return {x, y};
}

Work work(const Params& params, std::span<const TensorSpec> tensors) {
  Work work = streaming_work(tensors);
  work.operations = operations * numel(params.ints("shape"));
  return work;
}

Dispatch same_layout(const BuildContext& context, const Requantization& requantization) {
  const std::int64_t words = context.physical(0).bytes() / 4;
  const bool whole = words % 4 == 0;
  const std::int64_t vectors = whole ? words / 4 : words;
  Dispatch dispatch;
  dispatch.label = "relu";
  dispatch.shader = "q8ta_relu.comp";
  dispatch.defines = {{"WHOLE_QUADS", flag(whole)}, rounding_define(context.device)};
  dispatch.push.add(vectors);
  add(dispatch.push, requantization);
  dispatch.bindings = {Resource::tensor(0), Resource::tensor(1)};
  set_vector_grid(dispatch, context, vectors);
  return dispatch;
}

Program fused(const BuildContext& context) {
  const Requantization requantization{context.params.qparams("x"), context.params.qparams("y")};
  if (context.forms[0] == context.forms[1]) return {.dispatches = {same_layout(context, requantization)}};
  return {.dispatches = {rectifying_dispatch(context, "relu", tensor_at(context, 0), tensor_at(context, 1),
                                             requantization)}};
}

std::optional<std::string> invalid_reason(const ImplPoint& point) {
  for (const std::string name : {"x", "y"}) {
    if (auto reason = scale_invalid_reason(name, point.params.qparams(name))) return reason;
  }
  return relayout_invalid_reason({point.forms[0], DType::I8, point.tensors[0].shape},
                                 {point.forms[1], DType::I8, point.tensors[1].shape});
}

}  // namespace

Op q8ta_relu() {
  return {
      .name = "q8ta_relu",
      .summary = "relu on int8x4 tensors, with requantization, from any layout to any other",
      .params = {shape("shape", rank(1, 4)), qparams("x"), qparams("y")},
      .tensors = tensors,
      .reference = references::q8ta_relu,
      .work = work,
      .impls = {{.name = "fused",
                 .summary =
                     "one dispatch: 16 bytes at a time in one layout, tiles of 4 x 4 between two layouts",
                 .tunables = {local_size_tunable(), vectors_tunable()},
                 .build = fused,
                 .invalid_reason = invalid_reason}},
  };
}

}  // namespace assay::ops
