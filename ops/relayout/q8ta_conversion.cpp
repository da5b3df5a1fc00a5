#include "ops/relayout/q8ta_conversion.h"

#include "ops/affine/affine.h"
#include "ops/common/tensor_at.h"
#include "ops/relayout/relayout.h"
#include "ops/relayout/reorder.h"

#include <utility>

namespace assay::ops {
namespace {

TensorSpec tensor_of(const Params& params, const Q8taConversion& conversion, std::string name) {
  const bool is_integers = name == conversion.integers;
  const DType real = parse_dtype(params.choice("dtype")).value();
  return {.name = std::move(name),
          .dtype = is_integers ? DType::I8 : real,
          .shape = params.ints("shape"),
          .forms = is_integers ? int8_forms() : float_forms()};
}

FillDomain x_domain(const Params& params, const Q8taConversion& conversion) {
  if (conversion.integers == "x") return {FillRole::Data, -128, 127};
  // The fill `saturate` covers twice the range, so that half of the values lie beyond its ends.
  return {FillRole::Data, 0, 256.0 * static_cast<double>(params.qparams("y").scale)};
}

std::vector<TensorSpec> tensors_of(const Params& params, const Q8taConversion& conversion) {
  TensorSpec x = tensor_of(params, conversion, "x");
  x.domain = x_domain(params, conversion);
  TensorSpec y = tensor_of(params, conversion, "y");
  y.role = TensorSpec::Role::Output;
  y.output_class = y.dtype == DType::F16 ? OutputClass::Bounded : OutputClass::Exact;
  return {std::move(x), std::move(y)};
}

Program tiled(const BuildContext& context, const Q8taConversion& op) {
  const QParams& integers = context.params.qparams(op.integers);
  const Conversion conversion = op.integers == "x" ? dequantizing(integers) : quantizing(integers);
  return {.dispatches = {
              move_dispatch(context, op.label, tensor_at(context, 0), tensor_at(context, 1), conversion)}};
}

}  // namespace

Impl tiled_impl(std::function<Program(const BuildContext&)> build,
                std::function<std::optional<std::string>(const ImplPoint&)> invalid_reason) {
  return {.name = "tiled",
          .summary = "each invocation moves 4 x 4 values, transposed in registers where lanes change",
          .tunables = box_tunables(),
          .build = std::move(build),
          .invalid_reason = std::move(invalid_reason)};
}

Op q8ta_conversion(const Q8taConversion& conversion) {
  const auto invalid_reason = [](const ImplPoint& point) {
    return any_too_large(point.tensors, point.forms);
  };
  return {
      .name = conversion.name,
      .summary = conversion.summary,
      .params =
          {shape("shape", rank(1, 4)),
           choice("dtype", {"f32", "f16"}).by_default(std::string("f32")).says("type of the real values"),
           qparams(conversion.integers)},
      .tensors = [conversion](const Params& params) { return tensors_of(params, conversion); },
      .reference = conversion.reference,
      .work = affine_work,
      .impls = {tiled_impl([conversion](const BuildContext& context) { return tiled(context, conversion); },
                           invalid_reason)},
  };
}

}  // namespace assay::ops
