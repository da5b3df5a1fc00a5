#include "ops/common/tensor_at.h"
#include "ops/convolution/impls.h"
#include "ops/convolution/product.h"
#include "ops/convolution/sizes.h"
#include "ops/linear/coopmat.h"

#include <optional>
#include <string>
#include <utility>

namespace assay::ops {
namespace {

constexpr LinearKind of_int8{XKind::Int8, WeightKind::Int8};
Tune tune_of(const BuildContext& context, const Gathering& gathering) {
  const bool plain = context.tuned("plain", has_matrices(context.device, of_int8) ? 0 : 1) != 0;
  if (plain) return context.tune;
  return with_fast_sizes(context, {gathering.conv.pixels_of_y(), gathering.outputs_of_group, gathering.groups,
                                   gathering.depth()});
}

LinearPoint linear_of(const BuildContext& context, const Gathering& gathering) {
  return {context, integer_images_form(context), gathering.depth(), tune_of(context, gathering)};
}

Program build(const BuildContext& context) {
  const Gathering gathering(references::checked_convolution(context.params));
  const LinearPoint linear = linear_of(context, gathering);
  Program program;
  const TensorAt x = integer_images(program, context);
  const Resource w = weight_rows(program, context, gathering, gathering.depth());
  append(program, coopmat_convolution(linear.on(context.device), of_int8, {.x = &gathering}),
         linear.resources(x.resource, w));
  return program;
}

std::optional<std::string> invalid_reason(const ImplPoint& point) {
  if (auto reason = any_too_large(point.tensors, point.forms)) return reason;
  return coopmat_tune_invalid_reason(point);
}

std::optional<std::string> unsupported_reason(const BuildContext& context) {
  const Gathering gathering(references::checked_convolution(context.params));
  return coopmat_convolution_unsupported_reason(linear_of(context, gathering).on(context.device), of_int8);
}

}  // namespace

Impl implicit_convolution(std::string name) {
  Impl impl{.name = std::move(name)};
  impl.summary = "subgroups multiply cooperative matrices of int8, gathered while they are staged";
  impl.ceiling = Ceiling::CoopInt8;
  impl.tunables = coopmat_tunables();
  impl.build = build;
  impl.invalid_reason = invalid_reason;
  impl.unsupported_reason = unsupported_reason;
  impl.conv2d_layout = Layout::P4C;
  impl.unit_error = [](const BuildContext&) { return gamma_of(5); };
  return impl;
}

}  // namespace assay::ops
