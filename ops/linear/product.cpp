#include "ops/linear/product.h"

#include "ops/choose_qparams/row_quantization.h"
#include "ops/common/activation.h"
#include "ops/common/grid.h"
#include "ops/common/shader_values.h"
#include "ops/common/tensor_at.h"
#include "ops/linear/requantizers.h"
#include "ops/linear/tensors.h"
#include "ops/relayout/reorder.h"

#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace assay::ops {
namespace {

using references::Linear;

constexpr Form buffer{Storage::Buffer, Layout::WP};

// A product of this few rows takes hardly longer than its start, so the sizes are built into its program.
// Programs for more rows are shared by all shapes.
constexpr std::int64_t rows_that_wait_for_constants = 16;

/// The op's own x_scale and x_zero_point, or scratch where they are chosen.
QuantizedRows resources_of(Program& program, const BuildContext& context, const Linear& linear, bool given) {
  QuantizedRows rows;
  rows.values =
      add_scratch(program, {"x_values", DType::I8, linear.x_shape(), {Storage::Buffer, Layout::P4W}});
  if (given) {
    rows.scale = tensor_named(context, "x_scale").resource;
    rows.zero_point = tensor_named(context, "x_zero_point").resource;
  } else {
    rows.scale = add_scratch(program, {"x_scale", DType::F32, linear.row_shape(), buffer});
    rows.zero_point = add_scratch(program, {"x_zero_point", DType::I32, linear.row_shape(), buffer});
  }
  return rows;
}

/// x as the product reads it.
struct X {
  Resource resource;
  Physical physical;
  std::optional<Resource> scale, zero_point;  ///< one of each per row
};

X x_of(const TensorAt& tensor) {
  return {tensor.resource, tensor.physical, std::nullopt, std::nullopt};
}

X given_x(const BuildContext& context) {
  const TensorAt given = tensor_named(context, "x");
  X x = x_of(given);
  if (find_tensor(context.tensors, "x_scale")) {
    x.scale = tensor_named(context, "x_scale").resource;
    x.zero_point = tensor_named(context, "x_zero_point").resource;
  }
  return x;
}

X quantized_rows(Program& program, const BuildContext& context, const Linear& linear) {
  const QuantizedRows rows = quantize_rows(program, context, linear);
  const Physical physical({Storage::Buffer, Layout::P4W}, DType::I8, linear.x_shape());
  return {rows.values, physical, rows.scale, rows.zero_point};
}

X prepared_x(Program& program, const BuildContext& context, const Linear& linear, const LinearKind& kind,
             const ProductNeeds& needs) {
  if (needs.quantizes) return given_x(context);
  switch (kind.x) {
    case XKind::Quantized:
      return x_of(quantized_x(program, context, {Storage::Buffer, needs.x_layout}));
    case XKind::QuantizedRows:
      return quantized_rows(program, context, linear);
    default:
      return given_x(context);
  }
}

/// Appends bindings, and defines their indices for the shader.
class Binder {
 public:
  explicit Binder(Dispatch& dispatch) : dispatch_(dispatch) {}

  void bind(const std::string& name, const Binding& binding) {
    define(name + "_AT", std::to_string(dispatch_.bindings.size()));
    dispatch_.bindings.push_back(binding);
  }
  void bind(const std::string& name, const std::optional<Resource>& resource) {
    if (resource) bind(name, Binding(*resource));
  }
  void define(const std::string& name, const std::string& value) { define({name, value}); }
  void define(const Define& define) { dispatch_.defines.push_back(define); }

 private:
  Dispatch& dispatch_;
};

std::string layout_define(const std::string& side, const Physical& physical) {
  if (is_texture(physical.form())) return side + "_TEXTURE";
  return side + (physical.form().layout == Layout::P4H4W ? "_BLOCKS" : "_ROWS");
}

std::string qparams_define(const LinearKind& kind, const X& x) {
  if (kind.x == XKind::Quantized) return "QPARAMS_PUSHED";
  return x.scale ? "QPARAMS_GIVEN" : "QPARAMS_CHOSEN";
}

void add_x(Binder& binder, const X& x, const Linear& linear, const LinearKind& kind,
           const ProductNeeds& needs) {
  const bool texture = is_texture(x.physical.form());
  if (needs.images.x != nullptr) {
    binder.bind("X", texture ? sampled(x.resource) : Binding(x.resource));
    return;
  }
  binder.bind("X", texture ? sampled(x.resource) : Binding(x.resource));
  binder.define("X_LAYOUT", layout_define("X", x.physical));
  if (needs.quantizes) binder.define("QPARAMS", qparams_define(kind, x));
  if (kind.is_real() || needs.quantizes) {
    binder.define("X_F16", flag(linear.real == DType::F16));
    binder.define("X_ALIGNED", flag(linear.k % 4 == 0));
    binder.define("X_EIGHTS", flag(needs.packing.for_halves && !texture && linear.k % 8 == 0));
  } else {
    const bool fits = !texture && div_up(linear.k, 4) % needs.x_words == 0;
    binder.define("X_WORDS", std::to_string(fits ? needs.x_words : 1));
  }
  binder.bind("X_SCALE", x.scale);
  binder.bind("X_ZERO", x.zero_point);
}

void add_w(Program& program, Binder& binder, const BuildContext& context, const LinearKind& kind,
           const PackedWeights& weights, bool with_sums, bool by_quad) {
  binder.bind("W", weights.is_texture ? sampled(weights.words) : Binding(weights.words));
  binder.define("W_BITS", is_int4(kind.w) ? "4" : "8");
  binder.define("W_ROWS", flag(weights.packing.by_rows));
  binder.define("W_TEXTURE", flag(weights.is_texture));
  std::optional<Resource> zero_points;
  if (find_tensor(context.tensors, "w_zero_point")) {
    zero_points = padded_table(program, context, "w_zero_point", by_quad);
  }
  binder.bind("W_ZERO", zero_points);
  if (with_sums) binder.bind("W_SUMS", Binding(weight_sums(program, context, kind.w, weights, zero_points)));
}

/// Whether weights are multiplied by half-float scales, so that sums still need only a channel's factor.
bool rounds_scales(const LinearKind& kind, const ProductNeeds& needs) {
  return kind.is_real_int4() && needs.packing.for_halves && !needs.scales_sums;
}

std::string sums_define(const LinearKind& kind, const ProductNeeds& needs) {
  if (kind.is_grouped()) return "SUMS_GROUPED";
  if (!kind.is_real()) return "SUMS_INT8";
  return kind.is_real_int4() && !rounds_scales(kind, needs) ? "SUMS_SCALED" : "SUMS_REAL";
}

void add_scales(Program& program, Binder& binder, const BuildContext& context, const LinearKind& kind,
                const ProductNeeds& needs) {
  if (!rounds_scales(kind, needs)) {
    return binder.bind("W_SCALE", Binding(padded_table(program, context, "w_scale", needs.by_quad)));
  }
  const HalfScales scales = half_scales(program, context);
  binder.bind("W_HALF_SCALE", Binding(scales.halves));
  binder.bind("W_SCALE", Binding(scales.factors));
}

bool is_fixed_point(const Params& params) {
  return params.has("epilogue") && params.choice("epilogue") == "fixed_point";
}

void add_y(Program& program, Binder& binder, const BuildContext& context, const Linear& linear,
           const LinearKind& kind, const ProductNeeds& needs) {
  const Physical y = tensor_named(context, "y").physical;
  binder.bind("Y", Binding(tensor_named(context, "y").resource));
  const bool images = needs.images.y || needs.images.x != nullptr;
  binder.define("Y_LAYOUT", images ? y_layout_of_images(y) : layout_define("Y", y));
  binder.define("Y_INT8", flag(y.dtype() == DType::I8));
  if (y.dtype() == DType::I8) binder.define(rounding_define(context.device));
  binder.define("Y_F16", flag(y.dtype() == DType::F16));
  binder.define("Y_ALIGNED", flag(linear.n % 4 == 0));
  binder.define("SUMS", sums_define(kind, needs));
  binder.define(activation_define(linear.activation));
  const bool fixed = is_fixed_point(context.params);
  binder.define("FIXED_POINT", flag(fixed));
  if (fixed) {
    binder.bind("REQUANTIZERS", Binding(requantizers(program, context)));
    return;
  }
  add_scales(program, binder, context, kind, needs);
  if (linear.bias) binder.bind("BIAS", Binding(padded_table(program, context, "bias", false)));
}

Slots slots_of(const Linear& linear, const Physical& x, const Physical& y) {
  const std::int64_t planes = numel(linear.batch);
  const bool in_fours = x.form().layout == Layout::P4H4W || y.form().layout == Layout::P4H4W;
  const std::int64_t of_plane = in_fours && planes > 1 ? 4 * div_up(linear.m, 4) : linear.m;
  return {planes * of_plane, of_plane};
}

void add_push(Dispatch& product, const BuildContext& context, const Linear& linear, const Slots& slots,
              const PackedWeights& weights, std::int64_t tiles_n) {
  const Params& params = context.params;
  const QParams x = params.has("x") ? params.qparams("x") : QParams{};
  const QParams y = params.has("y") ? params.qparams("y") : QParams{};
  PushConstants& push = product.push;
  push.add(linear.m).add(slots.all).add(slots.of_plane);
  add(push, divider(slots.of_plane));
  push.add(linear.k).add(linear.n).add(weights.quads).add(weights.blocks).add(linear.groups());
  add(push, divider(weights.blocks_of_group));
  push.add(tiles_n);
  add(push, divider(tiles_n));
  push.add(x.scale).add(1.0F / x.scale).add(std::int64_t{x.zero_point});
  push.add(1.0F / y.scale).add(std::int64_t{y.zero_point});
}

// The constants of shaders/linear/numbers.glslh, in the order of add_push().
constexpr std::array<std::string_view, 20> baked_words{"rows",
                                                       "slots",
                                                       "slots_of_plane",
                                                       "slots_multiplier",
                                                       "slots_shift",
                                                       "depth",
                                                       "columns",
                                                       "quads",
                                                       "blocks",
                                                       "groups",
                                                       "group_multiplier",
                                                       "group_shift",
                                                       "tiles_n",
                                                       "tiles_multiplier",
                                                       "tiles_shift",
                                                       "x_scale",
                                                       "x_inverse_scale",
                                                       "x_zero_point",
                                                       "y_inverse_scale",
                                                       "y_zero_point"};

}  // namespace

QuantizedRows quantize_rows(Program& program, const BuildContext& context, const Linear& linear) {
  const bool given = find_tensor(context.tensors, "x_scale").has_value();
  const QuantizedRows rows = resources_of(program, context, linear, given);
  const Physical values({Storage::Buffer, Layout::P4W}, DType::I8, linear.x_shape());
  RowQuantization quantization{.x = tensor_named(context, "x"), .q = {rows.values, values}};
  quantization.scale = rows.scale;
  quantization.zero_point = rows.zero_point;
  if (!given) quantization.rule = references::QParamsRule::PerRow;
  quantization.bakes_sizes = linear.rows() <= rows_that_wait_for_constants && wants_bake(context);
  program.dispatches.push_back(row_quantization(quantization, context.device));
  return rows;
}

Slots add_operands(Program& program, Dispatch& product, const BuildContext& context, const LinearKind& kind,
                   const ProductNeeds& needs) {
  const Linear linear = references::checked_linear(context.params);
  Binder binder(product);
  const PackedWeights weights = packed_weights(program, context, kind.w, needs.packing);
  const bool with_sums = kind.is_grouped() ? needs.sums_of_groups : !kind.is_real();
  add_w(program, binder, context, kind, weights, with_sums, needs.by_quad);
  add_y(program, binder, context, linear, kind, needs);
  const X x = prepared_x(program, context, linear, kind, needs);
  add_x(binder, x, linear, kind, needs);
  binder.define("REAL", flag(kind.is_real()));
  binder.define("GROUPED", flag(kind.is_grouped()));
  binder.define("DOT", flag(needs.dot));
  const Physical y = tensor_named(context, "y").physical;
  const Slots slots = slots_of(linear, x.physical, y);
  const bool by_plane = slots.of_plane != linear.m || is_texture(x.physical.form()) || is_texture(y.form());
  binder.define("PLANES", flag(numel(linear.batch) > 1 && by_plane));
  add_push(product, context, linear, slots, weights, needs.tiles_n(linear.n));
  bake(product, baked_words, needs.bakes);
  return slots;
}

TensorAt quantized_x(Program& program, const BuildContext& context, Form form) {
  const TensorAt from = tensor_named(context, "x");
  const Physical physical(form, DType::I8, from.physical.shape());
  const TensorAt to{add_scratch(program, {"x_q", DType::I8, physical.shape(), form}), physical};
  program.dispatches.push_back(
      move_dispatch(context, "quantize", from, to, quantizing(context.params.qparams("x"))));
  return to;
}

void add_images(Dispatch& product, const BuildContext& context, const ProductNeeds& needs) {
  const Gathering* gathering = needs.images.x;
  if (gathering == nullptr) return add_images_of_y(product, context, needs.images);
  const Physical x = tensor_named(context, "x").physical;
  add_gathering(product, *gathering, x, gathering->has_units(x));
  add_channel_groups(product, *gathering, needs.columns_of_workgroup);
  add_pixels(product, tensor_named(context, "y").physical, true);
}

void add_images_of_y(Dispatch& dispatch, const BuildContext& context, const Images& images) {
  if (images.y || images.x != nullptr) add_pixels(dispatch, tensor_named(context, "y").physical, false);
}

std::int64_t ProductNeeds::tiles_n(std::int64_t columns) const {
  return images.x != nullptr ? images.x->tiles(columns_of_workgroup) : div_up(columns, columns_of_workgroup);
}

std::optional<std::string> linear_invalid_reason(const ImplPoint& point, const LinearKind& kind,
                                                 Layout x_layout) {
  if (auto reason = any_too_large(point.tensors, point.forms)) return reason;
  if (!kind.quantizes()) return std::nullopt;
  const Form form{Storage::Buffer, kind.x == XKind::Quantized ? x_layout : Layout::P4W};
  const Shape& shape = point.tensors.front().shape;
  const auto reason = excluded([&] { return too_large({form, DType::I8, shape}); });
  return reason ? std::optional("quantized x: " + *reason) : std::nullopt;
}

}  // namespace assay::ops
