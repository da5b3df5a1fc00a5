#include "references/quantize_dynamic.h"

#include "ops/affine/affine.h"
#include "ops/choose_qparams/choose.h"
#include "ops/common/defines.h"
#include "ops/common/grid.h"
#include "ops/common/push.h"

#include <algorithm>
#include <array>
#include <bit>

namespace assay::ops {
namespace {

constexpr std::int64_t most_kept = 16;

constexpr std::int64_t least_columns = 8;  // neighbours of a row write 32 bytes together
constexpr std::int64_t kept_of_few = 4;
constexpr std::int64_t kept_of_many = 8;
constexpr std::int64_t most_columns = 512;
// Rows that leave a large device idle unless many invocations work on each.
constexpr std::int64_t few_tokens = 512;
constexpr std::int64_t smallest_workgroup = 128;
constexpr std::int64_t operations_of_element = 4;  // min, max, *, +

std::vector<TensorSpec> tensors(const Params& params) {
  const Params as_affine = references::dynamic_params(params);
  const references::ChooseQParams choose = references::choose_affine(as_affine);
  const references::Affine affine = references::affine(as_affine);
  std::vector<TensorSpec> all{choose_input(choose)};
  for (TensorSpec& output : choose_outputs(choose)) all.push_back(std::move(output));
  TensorSpec q = affine_data(affine, "q", TensorSpec::Role::Output, affine.quantized, {});
  if (params.ints("shape").back() <= 2) q.ends_because = "a row of two values has its extremes alone";
  all.push_back(std::move(q));
  return all;
}

Work work(const Params& params, std::span<const TensorSpec> tensors) {
  Work work = streaming_work(tensors);
  work.operations = operations_of_element * numel(params.ints("shape"));
  return work;
}

/// Invocations of a row of so many quads.
std::int64_t columns_of(const BuildContext& context, std::int64_t tokens, std::int64_t quads) {
  const std::int64_t each = tokens <= few_tokens ? kept_of_few : kept_of_many;
  const std::int64_t wanted = std::clamp(power_of_two_from(div_up(quads, each)),
                                         std::min(power_of_two_from(quads), least_columns), most_columns);
  const std::int64_t asked = context.tuned("columns", wanted);
  return power_of_two_within(std::min(asked, most_invocations(context.device)));
}

std::vector<Define> defines_of(const BuildContext& context, const references::ChooseQParams& choose) {
  const Physical x = context.physical(0);
  const DType quantized = context.tensors[3].dtype;
  const std::int64_t width = choose.grid.shape.back();
  std::vector<Define> defines{{"REAL_F16", flag(x.dtype() == DType::F16)},
                              {"QUANT_I32", flag(quantized == DType::I32)},
                              {"RULE", rule_define(choose.rule)},
                              texture_define(x.form())};
  if (x.form().storage == Storage::Buffer) {
    defines.push_back({"WHOLE_ROWS", flag(width % 4 == 0)});
    defines.push_back({"WHOLE_QUADS", flag(x.elements() % 4 == 0)});
  } else {
    defines.push_back({"QUANT_U8", flag(quantized == DType::U8)});
  }
  return defines;
}

Program fused(const BuildContext& context) {
  const references::ChooseQParams choose =
      references::choose_affine(references::dynamic_params(context.params));
  const Dims dims = nchw(choose.grid.shape);
  const std::int64_t tokens = numel(choose.grid.counts);
  const std::int64_t quads = div_up(dims.w, 4);
  const std::int64_t columns = columns_of(context, tokens, quads);
  const std::int64_t local =
      std::max(columns, std::min(smallest_workgroup, most_invocations(context.device)));
  Dispatch dispatch;
  dispatch.label = "quantize_dynamic";
  dispatch.shader = "quantize_dynamic.comp";
  dispatch.defines = defines_of(context, choose);
  // A row that begins inside a quad may touch one more.
  const std::int64_t kept = std::min(div_up(quads + (dims.w % 4 == 0 ? 0 : 1), columns), most_kept);
  dispatch.local_size = {static_cast<std::uint32_t>(local), 1, 1};
  use_subgroups(dispatch, context.device);
  dispatch.workgroups =
      fold_grid(tokens * columns, dispatch.local_size[0], context.device.max_workgroup_count[0]);
  const std::int64_t invocations = local * dispatch.workgroups[0] * dispatch.workgroups[1];
  const bool is_complete = dims.w % 4 == 0 && kept * columns == quads && invocations == tokens * columns;
  dispatch.constants = {
      {"column_bits", static_cast<std::uint32_t>(std::countr_zero(static_cast<std::uint64_t>(columns)))},
      {"kept", static_cast<std::uint32_t>(kept)},
      {"once", static_cast<std::uint32_t>(context.tuned("once", tokens > few_tokens ? 1 : 0))},
      {"complete", is_complete ? 1u : 0u}};
  PushConstants& push = dispatch.push;
  push.add(tokens).add(dims.w).add(dims.h);
  add(push, divider(dims.h));
  push.add(static_cast<float>(choose.limits.quant_min)).add(static_cast<float>(choose.limits.quant_max));
  push.add(choose.limits.eps);
  dispatch.shared_bytes = static_cast<std::uint32_t>(local * 8 + local / columns * 8);
  for (std::uint32_t i = 0; i < 4; ++i) dispatch.bindings.push_back(Resource::tensor(i));
  return {.dispatches = {std::move(dispatch)}};
}

Program unfused(const BuildContext& context) {
  const Params params = references::dynamic_params(context.params);
  const BuildContext as_affine{params, context.tensors, context.forms, context.device, context.tune};
  // Both parts have the tensors in this op's order: x, scale, zero point, and the integers for the second.
  const std::array all{Resource::tensor(0), Resource::tensor(1), Resource::tensor(2), Resource::tensor(3)};
  Program program = choose_program(as_affine, references::choose_affine(params));
  append(program, {.dispatches = {affine_dispatch(as_affine, "quantize", "quantize_affine.comp")}}, all);
  return program;
}

std::optional<std::string> unfused_excludes(const ImplPoint& point) {
  if (auto reason = affine_excludes(point)) return reason;
  return too_large_to_choose(point.tensors, point.forms);
}

std::optional<std::string> fused_excludes(const ImplPoint& point) {
  if (auto reason = unfused_excludes(point)) return reason;
  if (point.forms[0].layout == Layout::WP) return std::nullopt;
  return to_string(point.forms[0]) +
         ": the values of a token must be neighbours in memory, so this kernel takes WP only";
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
      .impls = {{.name = "fused",
                 .summary = "one dispatch: a row is read once and kept in registers",
                 .tunables =
                     {{.name = "columns",
                       .fallback = 0,
                       .min = 1,
                       .max = 1024,
                       .doc = "invocations of a row (rounded down to a power of two); by default chosen from "
                              "its length"},
                      {.name = "once",
                       .fallback = 0,
                       .min = 0,
                       .max = 1,
                       .doc = "1: one invocation of a row computes its parameters, 0: all do; by default one "
                              "where there are many rows"}},
                 .build = fused,
                 .excludes = fused_excludes},
                {.name = "unfused",
                 .summary = "two dispatches: choose_qparams, then quantize; a third where rows are split",
                 .tunables = choose_tunables(),
                 .build = unfused,
                 .excludes = unfused_excludes}},
  };
}

}  // namespace assay::ops
