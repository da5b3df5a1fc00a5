#include "ops/affine/affine.h"
#include "ops/choose_qparams/choose.h"
#include "ops/choose_qparams/row_quantization.h"
#include "ops/common/block_axes.h"
#include "references/choose_qparams/choose_qparams.h"

#include <array>
#include <utility>

namespace assay::ops {
namespace {

constexpr std::int64_t operations_of_element = 4;  // min, max, *, +

std::vector<TensorSpec> tensors(const Params& params) {
  const Params as_affine = references::dynamic_params(params);
  const references::ChooseQParams choose = references::choose_affine(as_affine);
  const references::Affine affine = references::affine(as_affine);
  std::vector<TensorSpec> all{choose_input(choose)};
  for (TensorSpec& output : choose_outputs(choose)) all.push_back(std::move(output));
  TensorSpec q = affine_data(affine, "q", TensorSpec::Role::Output, affine.quantized, {});
  if (params.ints("shape").back() <= 2) q.ends_because = "a row of two values has only its extremes";
  all.push_back(std::move(q));
  return all;
}

Work work(const Params& params, std::span<const TensorSpec> tensors) {
  Work work = streaming_work(tensors);
  work.operations = operations_of_element * numel(params.ints("shape"));
  return work;
}

Program fused(const BuildContext& context) {
  const references::ChooseQParams choose =
      references::choose_affine(references::dynamic_params(context.params));
  RowQuantization rows{.x = tensor_at(context, 0), .q = tensor_at(context, 3)};
  rows.scale = Resource::tensor(1);
  rows.zero_point = Resource::tensor(2);
  rows.rule = choose.rule;
  rows.limits = choose.limits;
  rows.columns = context.tuned("columns", 0);
  if (context.tune.contains("once")) rows.once = context.tuned("once", 0) != 0;
  return {.dispatches = {row_quantization(rows, context.device)}};
}

Program unfused(const BuildContext& context) {
  const Params params = references::dynamic_params(context.params);
  const BuildContext as_affine{params, context.tensors, context.forms, context.device, context.tune};
  // Both parts use the tensors in this op's order: x, scale, zero point and, for the second, the integers.
  const std::array all{Resource::tensor(0), Resource::tensor(1), Resource::tensor(2), Resource::tensor(3)};
  Program program = choose_program(as_affine, references::choose_affine(params));
  append(program, {.dispatches = {affine_dispatch(as_affine, "quantize", "quantize_affine.comp")}}, all);
  program.free_access_because = "the second dispatch quantizes with the scales that the first one chose";
  return program;
}

std::optional<std::string> unfused_invalid_reason(const ImplPoint& point) {
  if (auto reason = affine_invalid_reason(point)) return reason;
  return too_large_to_choose(point.tensors, point.forms);
}

std::optional<std::string> unfused_unsupported_reason(const BuildContext& context) {
  return choose_unsupported_reason(context,
                                   references::choose_affine(references::dynamic_params(context.params)));
}

std::optional<std::string> fused_invalid_reason(const ImplPoint& point) {
  if (auto reason = unfused_invalid_reason(point)) return reason;
  if (point.forms[0].layout == Layout::WP) return std::nullopt;
  return to_string(point.forms[0]) +
         ": the values of a token must be neighbours in memory, so this kernel takes only WP";
}

}  // namespace

Op quantize_dynamic() {
  return {
      .name = "quantize_dynamic",
      .summary = "scale and zero point of each token from its values, and its integers",
      .params = with_quant_params({shape("shape", rank(1, 4)), real_param(), mapping_param()}, {eps_param()}),
      .tensors = tensors,
      .reference = references::quantize_dynamic,
      .work = work,
      .tokens = tokens_of_shape,
      .impls = {{.name = "fused",
                 .summary = "one dispatch: each row is read once and kept in registers",
                 .tunables =
                     {{.name = "columns",
                       .fallback = 0,
                       .min = 1,
                       .max = 1024,
                       .doc = "invocations per row, rounded down to a power of two; by default chosen from "
                              "its length"},
                      {.name = "once",
                       .fallback = 0,
                       .min = 0,
                       .max = 1,
                       .doc = "1: one invocation of a row computes its parameters; 0: all do; by default 1 "
                              "where there are many rows"}},
                 .build = fused,
                 .invalid_reason = fused_invalid_reason},
                {.name = "unfused",
                 .summary = "two dispatches: choose_qparams, then quantize; a third where rows are split",
                 .tunables = choose_tunables(),
                 .build = unfused,
                 .invalid_reason = unfused_invalid_reason,
                 .unsupported_reason = unfused_unsupported_reason}},
  };
}

}  // namespace assay::ops
