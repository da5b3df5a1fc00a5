#include "ops/common/defines.h"
#include "ops/common/grid.h"
#include "ops/convolution/impls.h"
#include "ops/convolution/product.h"
#include "ops/linear/product.h"
#include "ops/linear/tensors.h"

#include <optional>
#include <utility>

namespace assay::ops {
namespace {

using references::Convolution;
using references::HeightWidth;

constexpr LinearKind of_int8{XKind::Int8, WeightKind::Int8};

/// The part of y that an invocation computes.
struct Share {
  std::int64_t pixels = 4;   ///< side by side
  std::int64_t columns = 4;  ///< output channels
};

/// Whether four neighbouring pixels of y read the same four pixels of x, which lie side by side.
bool is_aligned(const Convolution& conv, const Physical& x, const Share& share) {
  constexpr HeightWidth ones{1, 1}, zeros{0, 0};
  return x.form().layout == Layout::P4W4C && share.pixels == 4 && conv.kernel == ones &&
         conv.stride == ones && conv.padding == zeros && !conv.transposed;
}

bool wants_dot(const BuildContext& context) {
  return context.tuned("dot", context.device.dot_product_accelerated ? 1 : 0) != 0;
}

/// The dispatch that multiplies, as in the convolution's linear op.
Program product_of(const BuildContext& context, const Gathering& gathering, const Share& share, bool dot) {
  Program program;
  Dispatch product{.label = "product", .shader = "conv_direct.comp"};
  const ProductNeeds needs{
      .bakes = true, .dot = dot, .columns_of_workgroup = share.columns, .images = {.x = &gathering}};
  add_operands(program, product, context, of_int8, needs);
  const Physical x = tensor_named(context, "x").physical;
  const bool aligned = is_aligned(gathering.conv, x, share);
  add_gathering(product, gathering, x, aligned);
  add_channel_groups(product, gathering, share.columns);
  add_pixels(product, tensor_named(context, "y").physical, true);
  product.defines.push_back({"COLUMN_QUADS", std::to_string(share.columns / 4)});
  product.defines.push_back({"SUMS_OF_INVOCATION", std::to_string(share.pixels * share.columns / 4)});
  product.defines.push_back({"ALIGNED", flag(aligned)});
  set_pixel_grid(product, context, gathering, share.pixels, share.columns);
  program.dispatches.push_back(std::move(product));
  return program;
}

Program build(const BuildContext& context, const Share& share) {
  const Gathering gathering(references::checked_convolution(context.params));
  Program program;
  const TensorAt x = integer_images(program, context);
  const Resource w = weight_rows(program, context, gathering, gathering.depth());
  const LinearPoint linear(context, x.physical, gathering.depth(), context.tune);
  append(program, product_of(linear.on(context.device), gathering, share, wants_dot(context)),
         linear.resources(x.resource, w));
  return program;
}

std::optional<std::string> unsupported_reason(const BuildContext& context) {
  if (wants_dot(context) && !context.device.has(Feature::DotProduct)) {
    return "the integer dot product (shaderIntegerDotProduct) is missing";
  }
  return std::nullopt;
}

Tunable dot_tunable() {
  return {.name = "dot", .min = 0, .max = 1, .doc = "1: uses the integer dot product; 0: does not"};
}

Impl impl_of(std::string name, const std::function<Share(const BuildContext&)>& share) {
  Impl impl{.name = std::move(name)};
  impl.ceiling_here = [](const BuildContext& context) {
    return wants_dot(context) ? Ceiling::Dot4x8 : Ceiling::Fp32;
  };
  impl.build = [share](const BuildContext& context) { return build(context, share(context)); };
  impl.invalid_reason = [](const ImplPoint& point) { return any_too_large(point.tensors, point.forms); };
  impl.unsupported_reason = unsupported_reason;
  impl.conv2d_layout = Layout::P4C1W;
  impl.unit_error = [](const BuildContext&) { return gamma_of(5); };
  return impl;
}

}  // namespace

Impl direct_convolution(std::string name) {
  Impl impl = impl_of(std::move(name), [](const BuildContext& context) {
    return Share{context.tuned("pixels", 4), context.tuned("columns", 4)};
  });
  impl.summary = "each invocation computes its own pixels and output channels";
  impl.tunables = {
      {.name = "pixels", .doc = "pixels of y, side by side, per invocation", .allowed = {1, 2, 4, 8}},
      {.name = "columns", .doc = "output channels per invocation", .allowed = {4, 8}},
      dot_tunable(),
      local_size_tunable()};
  return impl;
}

Impl tile_n4_convolution(std::string name, std::int64_t columns) {
  Impl impl = impl_of(std::move(name), [columns](const BuildContext&) { return Share{4, columns}; });
  impl.summary = "four pixels side by side by " + std::to_string(columns) + " output channels per invocation";
  impl.tunables = {dot_tunable(), local_size_tunable()};
  return impl;
}

}  // namespace assay::ops
