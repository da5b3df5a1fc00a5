#include "ops/common/defines.h"
#include "ops/common/divider.h"
#include "ops/common/grid.h"
#include "ops/convolution/impls.h"
#include "ops/convolution/product.h"
#include "ops/convolution/sizes.h"
#include "ops/linear/coopmat.h"
#include "ops/linear/tensors.h"
#include "ops/linear/tiled.h"

#include <utility>

namespace assay::ops {
namespace {

constexpr LinearKind of_int8{XKind::Int8, WeightKind::Int8};
constexpr std::int64_t values_of_unit = 16;

/// The kernels of shaders/linear/linear_tiled.comp and linear_coopmat.comp that multiply the rows.
enum class Product : std::uint8_t { Tiled, Dot, Matrices };

Product product_of(const BuildContext& context) {
  const Product fastest = has_matrices(context.device, of_int8)    ? Product::Matrices
                          : context.device.dot_product_accelerated ? Product::Dot
                                                                   : Product::Tiled;
  return static_cast<Product>(context.tuned("product", static_cast<std::int64_t>(fastest)));
}

Ceiling ceiling_of_product(const BuildContext& context) {
  switch (product_of(context)) {
    case Product::Matrices:
      return Ceiling::CoopInt8;
    case Product::Dot:
      return Ceiling::Dot4x8;
    default:
      return Ceiling::Fp32;
  }
}

/// Sizes for the device's matrices. Tiles and plain code choose their own.
Tune tune_of(const BuildContext& context, const Gathering& columns) {
  if (product_of(context) != Product::Matrices || !has_matrices(context.device, of_int8)) return {};
  const Tune none;
  return with_fast_sizes(
      {context.params, context.tensors, context.forms, none},
      {columns.conv.pixels_of_y(), columns.outputs_of_group, columns.groups, columns.depth()});
}

/// Values along K per group, rounded up to whole units.
std::int64_t depth_of(const Gathering& gathering) {
  return div_up(gathering.depth(), values_of_unit) * values_of_unit;
}

Physical columns_form(const Gathering& columns) {
  return {{Storage::Buffer, Layout::P4C}, DType::I8, columns.conv.x_shape()};
}

Dispatch im2col(const BuildContext& context, const Gathering& gathering, const TensorAt& x,
                const TensorAt& columns) {
  const std::int64_t depth = depth_of(gathering);
  const std::int64_t units_of_group = depth / values_of_unit, units = gathering.groups * units_of_group;
  const std::int64_t pixels = gathering.conv.pixels_of_y();
  Dispatch dispatch{.label = "im2col", .shader = "conv_im2col.comp"};
  dispatch.defines = {{"X_AT", "0"}, {"COLUMNS_AT", "1"}};
  dispatch.bindings = {x.resource, columns.resource};
  add_gathering(dispatch, gathering, x.physical, gathering.has_units(x.physical));
  add_pixels(dispatch, columns.physical, true);
  dispatch.push.add(pixels).add(units);
  add(dispatch.push, divider(units));
  dispatch.push.add(units_of_group);
  add(dispatch.push, divider(units_of_group));
  dispatch.push.add(std::int64_t{context.params.qparams("x").zero_point});
  const std::uint32_t local_size = default_local_size(pixels * units, context.device);
  dispatch.local_size = {local_size, 1, 1};
  dispatch.workgroups = fold_grid(pixels * units, local_size, context.device.max_workgroup_count[0]);
  return dispatch;
}

Program product_program(const BuildContext& context, const Gathering& columns, Product product) {
  if (product == Product::Matrices) return coopmat_convolution(context, of_int8, {.x = &columns});
  return tiled_convolution(context, of_int8, {.x = &columns}, product == Product::Dot);
}

Program build(const BuildContext& context) {
  const Gathering gathering(references::checked_convolution(context.params));
  const std::int64_t depth = depth_of(gathering);
  const Gathering columns = Gathering::of_columns(gathering, depth);
  Program program;
  const TensorAt x = integer_images(program, context);
  const Physical form = columns_form(columns);
  const TensorAt made{add_scratch(program, {"columns", DType::I8, form.shape(), form.form()}), form};
  const Resource w = weight_rows(program, context, gathering, depth);
  program.dispatches.push_back(im2col(context, gathering, x, made));
  const LinearPoint linear(context, form, depth, tune_of(context, columns));
  append(program, product_program(linear.on(context.device), columns, product_of(context)),
         linear.resources(made.resource, w));
  return program;
}

std::optional<std::string> invalid_reason(const ImplPoint& point) {
  if (auto reason = any_too_large(point.tensors, point.forms)) return reason;
  const Gathering gathering(references::checked_convolution(point.params));
  if (auto reason = too_large(columns_form(Gathering::of_columns(gathering, depth_of(gathering))))) {
    return "columns: " + *reason;
  }
  return std::nullopt;
}

std::optional<std::string> unsupported_reason(const BuildContext& context) {
  const Gathering gathering(references::checked_convolution(context.params));
  const std::int64_t depth = depth_of(gathering);
  const Gathering columns = Gathering::of_columns(gathering, depth);
  const LinearPoint linear(context, columns_form(columns), depth, tune_of(context, columns));
  const Product product = product_of(context);
  if (product == Product::Matrices)
    return coopmat_convolution_unsupported_reason(linear.on(context.device), of_int8);
  if (product == Product::Dot && !context.device.has(Feature::DotProduct)) {
    return "the integer dot product (shaderIntegerDotProduct) is missing";
  }
  return tiled_convolution_unsupported_reason(linear.on(context.device), of_int8);
}

}  // namespace

Impl im2col_convolution() {
  Impl impl{.name = "im2col"};
  impl.summary = "writes the values that each pixel sums as a row, then multiplies the rows";
  impl.ceiling_here = ceiling_of_product;
  impl.tunables = {{.name = "product",
                    .min = 0,
                    .max = 2,
                    .doc = "how rows are multiplied by weights: 0 tiles in shared memory, 1 such tiles by "
                           "the integer dot product, 2 cooperative matrices"}};
  impl.build = build;
  impl.invalid_reason = invalid_reason;
  impl.unsupported_reason = unsupported_reason;
  impl.conv2d_layout = Layout::P4C;
  impl.unit_error = [](const BuildContext&) { return gamma_of(5); };
  return impl;
}

}  // namespace assay::ops
