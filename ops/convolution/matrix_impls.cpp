#include "ops/convolution/matrix_impls.h"

#include "ops/common/grid.h"
#include "ops/common/shader_values.h"
#include "ops/common/tensor_at.h"
#include "ops/common/unit_error.h"
#include "ops/convolution/impls.h"
#include "ops/convolution/product.h"
#include "ops/linear/coopmat.h"
#include "ops/linear/coopmat_tiling.h"
#include "ops/linear/tensors.h"
#include "ops/linear/tiled.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

namespace assay::ops {
namespace {

// The workgroups that keep a large device busy, and the most that run at a time where two fit on a shader
// core. Sizes depend on the point alone, so these numbers count for every device.
constexpr std::int64_t cores = assumed_shader_cores;
constexpr std::int64_t busy_workgroups = 96, workgroups_at_a_time = 2 * cores;
constexpr std::int64_t fragment_depth = 32;
constexpr std::int64_t most_splits = 64;  // the tunable's maximum

constexpr std::array<const char*, 8> sizes{"tile_m",     "tile_n",      "tile_k", "subgroup_m",
                                           "subgroup_n", "subgroups_k", "splits", "stages"};

std::int64_t tiles_of(const ProductShape& shape, std::int64_t m, std::int64_t n) {
  return div_up(shape.rows, m) * shape.groups * div_up(shape.outputs, n);
}

constexpr std::int64_t usual_slab = 128, long_slab = 192;

std::int64_t slab_of(std::int64_t depth) {
  return std::clamp(power_of_two_from(depth), fragment_depth, usual_slab);
}

/// Whether slabs of 192 values are whole where slabs of 128 leave a rest, which matters with so few slabs.
bool wants_long_slabs(std::int64_t depth) {
  return depth % long_slab == 0 && depth % usual_slab != 0;
}

/// Subgroups that share K: two where a slab has an even number of fragments.
std::int64_t sharing(std::int64_t slab) {
  return slab / fragment_depth % 2 == 0 ? 2 : 1;
}

Tune tune(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t subgroup_m, std::int64_t subgroups_k) {
  return {{"tile_m", m},
          {"tile_n", n},
          {"tile_k", k},
          {"subgroup_m", subgroup_m},
          {"subgroup_n", std::min<std::int64_t>(n, 32)},
          {"subgroups_k", subgroups_k}};
}

/// Large tiles read the least per product. Where there are too few of them, smaller tiles are better, whose
/// subgroups share K; where these are too few, too, workgroups share K.
Tune fast_sizes(const ProductShape& shape) {
  const std::int64_t n = std::clamp(power_of_two_from(shape.outputs), std::int64_t{16}, std::int64_t{128});
  const std::int64_t k = slab_of(shape.depth);
  if (n == 128 && tiles_of(shape, 128, 128) >= busy_workgroups) return tune(128, 128, k, 32, 1);
  if (n <= 32 && tiles_of(shape, 128, n) >= cores) return tune(128, n, k, 32, 1);
  if (n == 64 && tiles_of(shape, 128, n) >= busy_workgroups && wants_long_slabs(shape.depth)) {
    return tune(128, n, long_slab, 32, 1);
  }
  if (n >= 64 && tiles_of(shape, 64, 64) >= cores) return tune(64, 64, k, 32, sharing(k));
  const std::int64_t narrow = std::min<std::int64_t>(n, 32);
  if (tiles_of(shape, 64, narrow) >= busy_workgroups) return tune(64, narrow, k, 32, sharing(k));
  const std::int64_t deep = std::min<std::int64_t>(div_up(shape.depth, 128) * 128, 256);
  if (tiles_of(shape, 32, narrow) >= cores / 3) return tune(32, narrow, deep, 16, deep / 64);
  if (shape.depth < 2048) return tune(32, narrow, deep, 16, deep / 64);
  Tune shared = tune(64, narrow, 128, 32, 2);
  shared["splits"] = std::clamp(workgroups_at_a_time / tiles_of(shape, 64, narrow), std::int64_t{1},
                                std::min(shape.depth / 256, most_splits));
  return shared;
}

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
Tune im2col_tune(const BuildContext& context, const Gathering& columns) {
  if (product_of(context) != Product::Matrices || !has_matrices(context.device, of_int8)) return {};
  const Tune none;
  return with_fast_sizes(
      {context.params, context.tensors, context.forms, none},
      {columns.conv.pixels_of_y(), columns.outputs_of_group, columns.groups, columns.depth()},
      context.device);
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

Program build_im2col(const BuildContext& context) {
  const Gathering gathering(references::checked_convolution(context.params));
  const std::int64_t depth = depth_of(gathering);
  const Gathering columns = Gathering::of_columns(gathering, depth);
  Program program;
  const TensorAt x = integer_images(program, context);
  const Physical form = columns_form(columns);
  const TensorAt made{add_scratch(program, {"columns", DType::I8, form.shape(), form.form()}), form};
  const Resource w = weight_rows(program, context, gathering, depth);
  program.dispatches.push_back(im2col(context, gathering, x, made));
  const LinearPoint linear(context, form, depth, im2col_tune(context, columns));
  append(program, product_program(linear.on(context.device), columns, product_of(context)),
         linear.resources(made.resource, w));
  return program;
}

std::optional<std::string> im2col_invalid_reason(const ImplPoint& point) {
  if (auto reason = integer_images_invalid_reason(point)) return reason;
  const Gathering gathering(references::checked_convolution(point.params));
  const auto of_columns = [&] {
    return too_large(columns_form(Gathering::of_columns(gathering, depth_of(gathering))));
  };
  if (auto reason = excluded(of_columns)) {
    return "columns: " + *reason;
  }
  return std::nullopt;
}

std::optional<std::string> im2col_unsupported_reason(const BuildContext& context) {
  const Gathering gathering(references::checked_convolution(context.params));
  const std::int64_t depth = depth_of(gathering);
  const Gathering columns = Gathering::of_columns(gathering, depth);
  const LinearPoint linear(context, columns_form(columns), depth, im2col_tune(context, columns));
  const Product product = product_of(context);
  if (product == Product::Matrices)
    return coopmat_convolution_unsupported_reason(linear.on(context.device), of_int8);
  if (product == Product::Dot && !context.device.has(Feature::DotProduct)) {
    return "the integer dot product (shaderIntegerDotProduct) is missing";
  }
  return tiled_convolution_unsupported_reason(linear.on(context.device), of_int8);
}

Tune implicit_tune(const BuildContext& context, const Gathering& gathering) {
  const bool plain = context.tuned("plain", has_matrices(context.device, of_int8) ? 0 : 1) != 0;
  if (plain) return context.tune;
  return with_fast_sizes(
      context,
      {gathering.conv.pixels_of_y(), gathering.outputs_of_group, gathering.groups, gathering.depth()},
      context.device);
}

LinearPoint linear_of(const BuildContext& context, const Gathering& gathering) {
  return {context, integer_images_form(context), gathering.depth(), implicit_tune(context, gathering)};
}

Program build_implicit(const BuildContext& context) {
  const Gathering gathering(references::checked_convolution(context.params));
  const LinearPoint linear = linear_of(context, gathering);
  Program program;
  const TensorAt x = integer_images(program, context);
  const Resource w = weight_rows(program, context, gathering, gathering.depth());
  append(program, coopmat_convolution(linear.on(context.device), of_int8, {.x = &gathering}),
         linear.resources(x.resource, w));
  return program;
}

std::optional<std::string> implicit_invalid_reason(const ImplPoint& point) {
  if (auto reason = integer_images_invalid_reason(point)) return reason;
  return coopmat_tune_invalid_reason(point);
}

std::optional<std::string> implicit_unsupported_reason(const BuildContext& context) {
  const Gathering gathering(references::checked_convolution(context.params));
  return coopmat_convolution_unsupported_reason(linear_of(context, gathering).on(context.device), of_int8);
}

}  // namespace

Tune with_fast_sizes(const ImplPoint& point, const ProductShape& shape, const DeviceInfo& device) {
  return with_sizes(point.tune, sizes, fitted_tune(fast_sizes(shape), device, wanted_fragment(point)));
}

Impl im2col_convolution() {
  Impl impl{.name = "im2col"};
  impl.summary = "writes the values that each pixel sums as a row, then multiplies the rows";
  impl.ceiling_here = ceiling_of_product;
  impl.tunables = {{.name = "product",
                    .min = 0,
                    .max = 2,
                    .doc = "how rows are multiplied by weights: 0 tiles in shared memory, 1 such tiles by "
                           "the integer dot product, 2 cooperative matrices"}};
  impl.build = build_im2col;
  impl.invalid_reason = im2col_invalid_reason;
  impl.unsupported_reason = im2col_unsupported_reason;
  impl.conv2d_layout = Layout::P4C;
  impl.unit_error = [](const BuildContext&) { return gamma_of(5); };
  return impl;
}

Impl implicit_convolution(std::string name) {
  Impl impl{.name = std::move(name)};
  impl.summary = "subgroups multiply cooperative matrices of int8, gathered while they are staged";
  impl.ceiling = Ceiling::CoopInt8;
  impl.tunables = coopmat_tunables(of_int8);
  impl.build = build_implicit;
  impl.invalid_reason = implicit_invalid_reason;
  impl.unsupported_reason = implicit_unsupported_reason;
  impl.conv2d_layout = Layout::P4C;
  impl.unit_error = [](const BuildContext&) { return gamma_of(5); };
  return impl;
}

// A pointwise convolution is computed as a linear op whose rows are pixels: 4C becomes rows of 4W, and the 16
// bytes of four pixels of 4W4C are four rows of 4H4W. The padding past the width of an image becomes rows,
// too, with arbitrary values; their results become padding of y.

namespace {

using references::Convolution;

constexpr std::int64_t pixels_of_block = 4;

bool is_in_blocks(const ImplPoint& point) {
  return point.forms.front().layout == Layout::P4W4C;
}

std::int64_t count_rows(const ImplPoint& point) {
  const Convolution conv = references::checked_convolution(point.params);
  const std::int64_t width = is_in_blocks(point) ? div_up(conv.w, pixels_of_block) * pixels_of_block : conv.w;
  return conv.n * conv.h * width;
}

LinearPoint rows_of(const ImplPoint& point, const Tune& tune) {
  LinearPoint linear(point, point.physical(0), point.params.integer("C"), tune);
  linear.set_rows(count_rows(point), is_in_blocks(point) ? Layout::P4H4W : Layout::P4W);
  return linear;
}

/// Adds the sizes that are fast for a coopmat kernel on the device's matrices.
LinearPoint fast_rows_of(const BuildContext& context, const Impl& linear) {
  const bool has = has_matrices(context.device, {XKind::Int8, WeightKind::Int8});
  if (linear.ceiling != Ceiling::CoopInt8 || context.tuned("plain", has ? 0 : 1) != 0) {
    return rows_of(context, context.tune);
  }
  const ProductShape shape{.rows = count_rows(context),
                           .outputs = context.params.integer("OC"),
                           .depth = context.params.integer("C")};
  return rows_of(context, with_fast_sizes(context, shape, context.device));
}

std::optional<std::string> forms_invalid_reason(const ImplPoint& point) {
  const Layout x = point.forms.front().layout, y = point.forms.back().layout;
  if (x == y && (x == Layout::P4W4C || x == Layout::P4C)) return std::nullopt;
  return "this impl takes pixels as rows of a linear op, so x and y must both be in 4W4C or both in 4C";
}

Program build_pointwise(const BuildContext& context, const Impl& linear) {
  const LinearPoint rows = fast_rows_of(context, linear);
  Program program;
  append(program, linear.build(rows.on(context.device)),
         rows.resources(Resource::tensor(0), Resource::tensor(1)));
  return program;
}

}  // namespace

Impl pointwise_convolution(const Impl& linear) {
  Impl impl = linear;
  impl.build = [linear](const BuildContext& context) { return build_pointwise(context, linear); };
  impl.invalid_reason = [linear](const ImplPoint& point) {
    auto reason = forms_invalid_reason(point);
    return reason ? reason : linear.invalid_reason(rows_of(point, point.tune).point());
  };
  impl.unsupported_reason = [linear](const BuildContext& context) {
    return linear.unsupported_reason(fast_rows_of(context, linear).on(context.device));
  };
  impl.unit_error = nullptr;  // y is exact
  impl.conv2d_layout = Layout::P4C;
  return impl;
}

}  // namespace assay::ops
