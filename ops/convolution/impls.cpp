#include "ops/convolution/impls.h"

#include "ops/common/cpu_loops.h"
#include "ops/common/grid.h"
#include "ops/common/shader_values.h"
#include "ops/common/unit_error.h"
#include "ops/convolution/product.h"
#include "ops/convolution/tensors.h"
#include "ops/linear/coopmat.h"
#include "ops/linear/coopmat_tiling.h"
#include "ops/linear/prefill.h"
#include "ops/linear/product.h"
#include "ops/linear/tensors.h"
#include "ops/linear/tiled.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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
bool is_aligned(const Convolution& conv, Layout x, const Share& share) {
  constexpr HeightWidth ones{1, 1}, zeros{0, 0};
  return x == Layout::P4W4C && share.pixels == 4 && conv.kernel == ones && conv.stride == ones &&
         conv.padding == zeros && conv.padding_end == zeros && !conv.transposed;
}

/// The loop iterations of an invocation (shaders/convolution/conv_direct.comp): over the taps, and in each
/// one over the words of a group's channels. Aligned pixels have one tap and only the inner loop.
std::int64_t turns_of_direct(const Gathering& gathering, bool aligned) {
  const std::int64_t of_tap = turns(gathering.tap_words);
  return aligned ? of_tap : turns(gathering.conv.taps(), of_tap);
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
  const bool aligned = is_aligned(gathering.conv, x.form().layout, share);
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

/// Real x is quantized into another layout first, but pixels are aligned in neither of the two.
std::optional<std::string> unsupported_reason(const BuildContext& context, const Share& share) {
  if (wants_dot(context) && !context.device.has(Feature::DotProduct)) {
    return "the integer dot product (shaderIntegerDotProduct) is missing";
  }
  const Gathering gathering(references::checked_convolution(context.params));
  const bool aligned = is_aligned(gathering.conv, context.forms.front().layout, share);
  return loops_unsupported_reason(turns_of_direct(gathering, aligned), context.device);
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
  impl.invalid_reason = integer_images_invalid_reason;
  impl.unsupported_reason = [share](const BuildContext& context) {
    return unsupported_reason(context, share(context));
  };
  impl.conv2d_layout = Layout::P4C1W;
  impl.unit_error = [](const BuildContext&) { return gamma_of(5); };
  return impl;
}

}  // namespace

Impl chosen_convolution(const std::string& matrices, const std::string& dot, const std::string& otherwise) {
  Impl impl{.name = "auto"};
  impl.summary = "chosen by what the device is fast at";
  impl.choose = [=](const BuildContext& context) {
    std::vector<std::string> ranking;
    if (has_matrices(context.device, {XKind::Int8, WeightKind::Int8})) ranking.push_back(matrices);
    if (!dot.empty() && context.device.dot_product_accelerated) ranking.push_back(dot);
    ranking.push_back(otherwise);
    return ranking;
  };
  return impl;
}

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

// Convolutions of real values by int8 weights.

namespace {

constexpr LinearKind of_reals{XKind::Real, WeightKind::Int8};
constexpr std::int64_t quad = 4, channels_of_unit = 8;

Binding as_read(const TensorAt& x) {
  return is_texture(x.physical.form()) ? sampled(x.resource) : Binding(x.resource);
}

// --- im2col ---

/// The rows along K of each pixel of y, with x's type.
Physical rows_form(const ImplPoint& point, const Gathering& gathering) {
  return {{Storage::Buffer, Layout::WP},
          point.tensors.front().dtype,
          {gathering.conv.pixels_of_y(), gathering.depth()}};
}

Dispatch im2col(const BuildContext& context, const Gathering& gathering, const TensorAt& x,
                const TensorAt& rows) {
  const std::int64_t pixels = gathering.conv.pixels_of_y(), quads = gathering.words();
  Dispatch dispatch{.label = "im2col", .shader = "conv_im2col_real.comp"};
  dispatch.defines = {{"X_AT", "0"}, {"COLUMNS_AT", "1"}};
  dispatch.bindings = {as_read(x), rows.resource};
  add_real_images(dispatch, gathering, x.physical);
  add_pixels(dispatch, tensor_named(context, "y").physical, true);
  dispatch.push.add(pixels).add(quads);
  add(dispatch.push, divider(quads));
  set_grid(dispatch, context, pixels * quads);
  return dispatch;
}

/// Whether the product uses half-float matrices: by default where x is f16 and the device has them.
bool uses_matrices(const BuildContext& context) {
  const bool by_default =
      context.tensors.front().dtype == DType::F16 && has_matrices(context.device, of_reals);
  return context.tuned("product", by_default ? 1 : 0) != 0;
}

Program build_im2col(const BuildContext& context) {
  const Gathering gathering(references::checked_convolution(context.params));
  const Physical form = rows_form(context, gathering);
  Program program;
  const TensorAt rows{add_scratch(program, {"columns", form.dtype(), form.shape(), form.form()}), form};
  const Resource w = weight_rows(program, context, gathering, gathering.depth());
  program.dispatches.push_back(im2col(context, gathering, tensor_named(context, "x"), rows));
  const LinearPoint linear(context, form, gathering.depth(), {});
  const Images images{.y = true};
  const BuildContext product = linear.on(context.device);
  append(program,
         uses_matrices(context) ? coopmat_convolution(product, of_reals, images)
                                : tiled_convolution(product, of_reals, images, false),
         linear.resources(rows.resource, w));
  return program;
}

std::optional<std::string> im2col_invalid_reason(const ImplPoint& point) {
  if (auto reason = convolution_invalid_reason(point)) return reason;
  const Gathering gathering(references::checked_convolution(point.params));
  if (gathering.conv.groups > 1) {
    return "a row holds the channels of all groups, so this impl takes one group, not " +
           std::to_string(gathering.conv.groups);
  }
  if (point.tuned("product", 0) != 0 && point.tensors.front().dtype != DType::F16) {
    return "matrices of half floats would round x of f32";
  }
  if (auto reason = excluded([&] { return too_large(rows_form(point, gathering)); }))
    return "columns: " + *reason;
  return std::nullopt;
}

std::optional<std::string> im2col_unsupported_reason(const BuildContext& context) {
  const Gathering gathering(references::checked_convolution(context.params));
  const LinearPoint linear(context, rows_form(context, gathering), gathering.depth(), {});
  const BuildContext product = linear.on(context.device);
  return uses_matrices(context) ? coopmat_convolution_unsupported_reason(product, of_reals)
                                : tiled_convolution_unsupported_reason(product, of_reals);
}

// --- implicit ---

/// At least what a subgroup has, 32 channels.
std::int64_t widest_tile(const Convolution& conv) {
  return std::clamp(power_of_two_from(conv.oc), std::int64_t{32}, std::int64_t{128});
}

/// Whether there are enough tiles of 64 pixels for the shader cores of an H200: sizes depend on the point
/// alone.
bool has_many_tiles(const Convolution& conv) {
  constexpr std::int64_t pixels = 64;
  return fills_cores(div_up(conv.pixels_of_y(), pixels) * div_up(conv.oc, widest_tile(conv)),
                     assumed_shader_cores);
}

/// What is fast on an H200 (shaders/NOTES.md).
Tune implicit_tune(const BuildContext& context, const Convolution& conv) {
  constexpr std::array<const char*, 4> sizes{"tile_m", "tile_n", "subgroup_m", "subgroup_n"};
  return with_sizes(context.tune, sizes,
                    has_many_tiles(conv) ? Tune{{"tile_m", 64}, {"tile_n", widest_tile(conv)}}
                                         : Tune{{"tile_m", 16}, {"tile_n", 32}, {"subgroup_n", 16}});
}

LinearPoint implicit_product(const BuildContext& context, const Gathering& gathering) {
  return {context, bytes_of_halves(context.physical(0)), gathering.depth(),
          implicit_tune(context, gathering.conv)};
}

Program build_implicit(const BuildContext& context) {
  const Convolution conv = references::checked_convolution(context.params);
  const Gathering gathering(conv), halves = Gathering::of_halves(conv);
  Program program;
  const Resource w = weight_rows(program, context, gathering, gathering.depth());
  const LinearPoint linear = implicit_product(context, gathering);
  append(program, prefill_program(linear.on(context.device), of_reals, {.x = &halves}),
         linear.resources(Resource::tensor(0), w));
  return program;
}

std::optional<std::string> implicit_invalid_reason(const ImplPoint& point) {
  if (auto reason = convolution_invalid_reason(point)) return reason;
  const Convolution conv = references::checked_convolution(point.params);
  if (point.tensors.front().dtype != DType::F16) return "x is f32, which matrices of half floats would round";
  if (is_texture(point.forms.front())) return "x is a texture, but is read 16 bytes at a time: use a buffer";
  if (conv.groups > 1) return fmt::format("this impl takes one group, not {}", conv.groups);
  if (conv.c % channels_of_unit != 0) {
    return fmt::format("{} channels of x are no whole units of 16 bytes, which hold {}", conv.c,
                       channels_of_unit);
  }
  return std::nullopt;
}

std::optional<std::string> implicit_unsupported_reason(const BuildContext& context) {
  const Gathering gathering(references::checked_convolution(context.params));
  return prefill_unsupported_reason(implicit_product(context, gathering).on(context.device), of_reals);
}

std::vector<Tunable> implicit_tunables() {
  return {{.name = "tile_m", .doc = "pixels of a workgroup's tile", .allowed = {16, 32, 64}},
          {.name = "tile_n", .doc = "output channels of a workgroup's tile", .allowed = {16, 32, 64, 128}},
          {.name = "subgroup_m", .doc = "pixels of a subgroup's part of a tile", .allowed = {16, 32, 64}},
          {.name = "subgroup_n",
           .doc = "output channels of a subgroup's part of a tile",
           .allowed = {16, 32, 64}},
          {.name = "plain", .min = 0, .max = 1, .doc = "1: plain code instead of cooperative matrices"},
          bake_tunable()};
}

// --- direct ---

/// Whether four neighbouring output channels always read the same channels of x, and whole quads of them.
bool shares_groups(const Convolution& conv) {
  return conv.groups == 1 || (conv.outputs_of_group() % quad == 0 && conv.channels_of_group() % quad == 0);
}

/// The dispatch that multiplies, as in the convolution's linear op.
Program direct_product(const BuildContext& context, const Gathering& gathering, std::int64_t pixels) {
  const Convolution& conv = gathering.conv;
  Program program;
  Dispatch product{.label = "product", .shader = "conv_direct_real.comp"};
  add_operands(program, product, context, of_reals, {.bakes = true, .images = {.x = &gathering}});
  const Physical x = tensor_named(context, "x").physical;
  add_real_images(product, gathering, x);
  add_channel_groups(product, gathering, quad);
  add_pixels(product, tensor_named(context, "y").physical, true);
  product.defines.push_back({"SHARED_GROUP", flag(shares_groups(conv))});
  if (!shares_groups(conv)) {
    set_constant(product, "inputs_of_group", conv.channels_of_group());
    set_constant(product, "outputs_of_group", conv.outputs_of_group());
  }
  set_pixel_grid(product, context, gathering, pixels, quad);
  program.dispatches.push_back(std::move(product));
  return program;
}

Program build_direct(const BuildContext& context) {
  const Gathering gathering(references::checked_convolution(context.params));
  Program program;
  const Resource w = weight_rows(program, context, gathering, gathering.depth());
  const LinearPoint linear(context, tensor_named(context, "x").physical, gathering.depth(), context.tune);
  append(program, direct_product(linear.on(context.device), gathering, context.tuned("pixels", 4)),
         linear.resources(Resource::tensor(0), w));
  return program;
}

/// A loop over the words along K takes one iteration for each (shaders/convolution/conv_direct_real.comp).
std::optional<std::string> direct_unsupported_reason(const BuildContext& context) {
  const Gathering gathering(references::checked_convolution(context.params));
  return loops_unsupported_reason(turns(gathering.words()), context.device);
}

/// Consecutive roundings: of a scaled weight, a product and a sum for each k; of scale and bias. With 16 bits
/// the matrices' sums have as many.
double unit_error(const BuildContext& context) {
  return gamma_of(Gathering(references::checked_convolution(context.params)).depth() + 8);
}

}  // namespace

Impl real_im2col_convolution() {
  Impl impl{.name = "im2col"};
  impl.summary = "writes the values that each pixel sums as a row, then multiplies the rows";
  impl.ceiling_here = [](const BuildContext& context) {
    return uses_matrices(context) ? Ceiling::CoopFp16 : Ceiling::Fp32;
  };
  impl.tunables = {
      {.name = "product",
       .min = 0,
       .max = 1,
       .doc = "how rows are multiplied by weights: 0 tiles in shared memory, 1 matrices of half floats"},
      local_size_tunable()};
  impl.build = build_im2col;
  impl.invalid_reason = im2col_invalid_reason;
  impl.unsupported_reason = im2col_unsupported_reason;
  impl.unit_error = unit_error;
  return impl;
}

bool is_implicit_fast(const BuildContext& context) {
  constexpr std::int64_t short_depth = 1024;
  const Gathering gathering(references::checked_convolution(context.params));
  return context.device.places_matrices() &&
         (gathering.depth() <= short_depth || has_many_tiles(gathering.conv));
}

Impl real_implicit_convolution() {
  Impl impl{.name = "implicit"};
  impl.summary = "subgroups multiply cooperative matrices of half floats, gathered while they are staged";
  impl.ceiling = Ceiling::CoopFp16;
  impl.tunables = implicit_tunables();
  impl.build = build_implicit;
  impl.invalid_reason = implicit_invalid_reason;
  impl.unsupported_reason = implicit_unsupported_reason;
  impl.unit_error = unit_error;
  return impl;
}

Impl real_direct_convolution() {
  Impl impl{.name = "direct"};
  impl.summary = "each invocation computes its own pixels and output channels";
  impl.ceiling = Ceiling::Fp32;
  impl.tunables = {
      {.name = "pixels", .doc = "pixels of y, side by side, per invocation", .allowed = {1, 2, 4, 8}},
      local_size_tunable()};
  impl.build = build_direct;
  impl.invalid_reason = convolution_invalid_reason;
  impl.unsupported_reason = direct_unsupported_reason;
  impl.unit_error = unit_error;
  return impl;
}

}  // namespace assay::ops
