#include "harness/op/op.h"
#include "ops/common/activation.h"
#include "ops/common/cpu_loops.h"
#include "ops/common/grid.h"
#include "ops/common/shader_values.h"
#include "ops/common/tensor_at.h"
#include "ops/convolution/tensors.h"
#include "ops/linear/requantizers.h"
#include "ops/linear/tensors.h"
#include "ops/linear/weights.h"
#include "references/convolution/conv2d.h"
#include "references/convolution/convolution.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace assay::ops {
namespace {

using references::Convolution;

constexpr std::int64_t channels_of_quad = 4;
constexpr std::int64_t most_outputs = 8;                  // per invocation: sums that stay in registers
constexpr std::int64_t least_words = 8, most_words = 32;  // words of x that an invocation loads at once
// The most taps whose sums float32 holds exactly: products are below 2^15, sums then below 2^24.
constexpr std::int64_t most_taps_of_floats = 512;
// The most taps whose sums are below 2^22, which the shader adds in the low bits of a float; and the four
// neighbours of a word.
constexpr std::int64_t most_taps_of_dots = 127, most_columns_of_dots = 4;
constexpr std::int64_t most_rows_of_dots = 8;  // rows of the window
// About as many invocations as large devices hold at a time.
constexpr std::int64_t many_invocations = 1 << 17;
constexpr std::uint32_t setup_local_size = 64;

/// An invocation's part along one axis: its outputs, the taps that it takes at once, and the window of x that
/// they meet (shaders/convolution/conv_depthwise.comp).
struct Along {
  std::int64_t outputs = 1;
  std::int64_t taps = 1;
  std::int64_t window = 1;  ///< rows (or columns) of the window
  std::int64_t apart = 1;   ///< distance in x from one of them to the next
  std::int64_t output_step = 1, tap_step = 1;
};

Along along(const Convolution& conv, std::size_t axis, std::int64_t outputs, bool all_taps) {
  const std::int64_t stride = conv.stride[axis], dilation = conv.dilation[axis];
  Along part{.outputs = outputs, .taps = all_taps ? conv.kernel[axis] : 1};
  const std::int64_t outputs_apart = outputs > 1 ? stride : 0, taps_apart = part.taps > 1 ? dilation : 0;
  part.apart = std::max<std::int64_t>(1, std::gcd(outputs_apart, taps_apart));
  part.output_step = std::max<std::int64_t>(1, outputs_apart / part.apart);
  part.tap_step = std::max<std::int64_t>(1, taps_apart / part.apart);
  part.window = (outputs - 1) * part.output_step + (part.taps - 1) * part.tap_step + 1;
  return part;
}

/// An invocation's part along both axes.
struct Part {
  Along h, w;

  std::int64_t outputs() const { return h.outputs * w.outputs; }
  std::int64_t words() const { return h.window * w.window; }
  bool has_all_taps(const Convolution& conv) const {
    return h.taps == conv.kernel[0] && w.taps == conv.kernel[1];
  }
};

/// How products are summed: PRODUCTS of shaders/convolution/conv_depthwise.comp.
enum class Products : std::uint8_t { Integer, Float, Dot };

/// Takes as many taps at once as their words of x fit in registers: all, one row of the kernel, or one.
Part part_of(const Convolution& conv, std::int64_t rows, std::int64_t columns) {
  for (const auto& [all_h, all_w] : {std::pair{true, true}, {false, true}}) {
    const Part part{along(conv, 0, rows, all_h), along(conv, 1, columns, all_w)};
    if (part.words() <= most_words) return part;
  }
  return {along(conv, 0, rows, false), along(conv, 1, columns, false)};
}

/// The pixels of y that one invocation computes.
struct Pixels {
  std::int64_t rows = 1, columns = 1;
};

/// As many pixels as leave invocations for the whole device and share words of x that are loaded at once. Two
/// columns come first, which share operands of the dot product, then rows: neighbours along w stay near in
/// memory. Kernels that do not fit at once share nothing between rows.
Pixels default_pixels(const Convolution& conv) {
  const std::int64_t words = conv.pixels_of_y() * div_up(conv.c, channels_of_quad);
  const auto [height, width] = conv.size_of_y();
  if (!part_of(conv, 1, 1).has_all_taps(conv)) return {1, words / 4 >= many_invocations ? 4 : 1};
  Pixels chosen;
  for (const Pixels& more : {Pixels{1, 2}, Pixels{2, 2}, Pixels{4, 2}}) {
    const bool leaves_enough = words / (more.rows * more.columns) >= many_invocations;
    const bool fits = more.rows <= height && more.columns <= width &&
                      part_of(conv, more.rows, more.columns).has_all_taps(conv);
    if (leaves_enough && fits) chosen = more;
  }
  return chosen;
}

/// Why these taps cannot be summed in this way, or nothing.
std::optional<std::string> cannot_sum(Products products, const Convolution& conv, const Part& part) {
  if (products == Products::Float && conv.taps() > most_taps_of_floats) {
    return fmt::format(
        "sums of {} products may exceed the integers that float32 holds exactly; at most {} products do not",
        conv.taps(), most_taps_of_floats);
  }
  if (products != Products::Dot) return std::nullopt;
  if (conv.kernel[1] > most_columns_of_dots || conv.kernel[1] == 1 || conv.dilation[1] != 1) {
    return fmt::format("dot products take 2 to 4 neighbouring taps, not {} taps that are {} apart",
                       conv.kernel[1], conv.dilation[1]);
  }
  if (conv.taps() > most_taps_of_dots) {
    return fmt::format("sums of {} products may exceed the 22 bits of a float in which they are added",
                       conv.taps());
  }
  if (part.w.taps == conv.kernel[1] && part.h.window <= most_rows_of_dots) return std::nullopt;
  return fmt::format("pixels and their taps span {} x {} words, which are too many to load at once",
                     part.h.window, part.w.window);
}

Part part_of(const ImplPoint& point) {
  const Convolution conv = references::checked_convolution(point.params);
  const Pixels by_default = default_pixels(conv);
  return part_of(conv, point.tuned("rows", by_default.rows), point.tuned("columns", by_default.columns));
}

/// The tuned kind of products, or the fastest of those that are possible.
Products products_of(const ImplPoint& point, bool is_dot_fast) {
  const Convolution conv = references::checked_convolution(point.params);
  const Part part = part_of(point);
  Products fastest = Products::Integer;
  for (const Products products : {Products::Dot, Products::Float}) {
    if ((products == Products::Dot && !is_dot_fast) || cannot_sum(products, conv, part)) continue;
    fastest = products;
    break;
  }
  return static_cast<Products>(point.tuned("products", static_cast<std::int64_t>(fastest)));
}

/// Counts invocations in the order of y's words: those along w that are neighbours in memory, quads of
/// channels, the rest along w, bands of rows, images.
struct Order {
  std::int64_t inner = 1, quads = 1, outer = 1, bands = 1, images = 1;
  std::int64_t count() const { return inner * quads * outer * bands * images; }
};

Order order_of(const Convolution& conv, const Part& part, Layout y) {
  const std::int64_t along_w = div_up(conv.size_of_y()[1], part.w.outputs);
  std::int64_t inner = 1;
  if (y == Layout::P4C1W) inner = along_w;
  if (y == Layout::P4W4C) inner = std::max<std::int64_t>(1, 4 / part.w.outputs);
  return {inner, div_up(conv.c, channels_of_quad), div_up(along_w, inner),
          div_up(conv.size_of_y()[0], part.h.outputs), conv.n};
}

Define products_define(Products products) {
  return {"PRODUCTS", std::to_string(static_cast<int>(products))};
}

Resource packed_taps(Program& program, const BuildContext& context, const Convolution& conv,
                     Products products) {
  const std::int64_t quads = div_up(conv.c, channels_of_quad);
  const std::int64_t taps_of_number = products == Products::Dot ? conv.kernel[1] : 1;
  const std::int64_t numbers = conv.taps() / taps_of_number;
  const Resource packed = add_scratch(
      program, {"packed_w", DType::I32, {numbers, channels_of_quad * quads}, {Storage::Buffer, Layout::WP}});
  Dispatch dispatch{.label = "pack", .shader = "conv_depthwise_pack.comp"};
  dispatch.role = DispatchRole::Setup;
  dispatch.defines = {products_define(products)};
  dispatch.constants = {{"taps_of_number", static_cast<std::uint32_t>(taps_of_number)}};
  const auto local_size =
      static_cast<std::uint32_t>(std::min<std::int64_t>(setup_local_size, most_invocations(context.device)));
  dispatch.local_size = {local_size, 1, 1};
  dispatch.workgroups = fold_grid(numbers * quads, local_size, context.device.max_workgroup_count[0]);
  dispatch.push.add(conv.c).add(numbers).add(quads);
  add(dispatch.push, divider(quads));
  dispatch.bindings = {tensor_named(context, "w").resource, packed};
  program.dispatches.push_back(std::move(dispatch));
  return packed;
}

void bind(Dispatch& dispatch, const std::string& name, Resource resource) {
  dispatch.defines.push_back({name + "_AT", std::to_string(dispatch.bindings.size())});
  dispatch.bindings.emplace_back(resource);
}

void add_epilogue(Program& program, Dispatch& dispatch, const BuildContext& context,
                  const Convolution& conv) {
  const bool fixed = context.params.choice("epilogue") == "fixed_point";
  dispatch.defines.push_back(activation_define(conv.activation));
  dispatch.defines.push_back({"FIXED_POINT", flag(fixed)});
  dispatch.defines.push_back(rounding_define(context.device));
  if (fixed) {
    bind(dispatch, "REQUANTIZERS", requantizers(program, context));
    return;
  }
  bind(dispatch, "W_SCALE", padded_table(program, context, "w_scale", false));
  if (conv.bias) bind(dispatch, "BIAS", padded_table(program, context, "bias", false));
}

void add_geometry(Dispatch& dispatch, const Convolution& conv, const Part& part) {
  const auto set_along = [&dispatch, &conv](std::size_t axis, const Along& along,
                                            const std::array<const char*, 9>& names) {
    const std::array<std::int64_t, 9> values{conv.kernel[axis],   conv.stride[axis], conv.padding[axis],
                                             conv.dilation[axis], along.taps,        along.window,
                                             along.apart,         along.output_step, along.tap_step};
    for (std::size_t i = 0; i < values.size(); ++i) set_constant(dispatch, names[i], values[i]);
  };
  set_along(0, part.h,
            {"kernel_h", "stride_h", "padding_h", "dilation_h", "taps_h", "window_h", "apart_h",
             "output_step_h", "tap_step_h"});
  set_along(1, part.w,
            {"kernel_w", "stride_w", "padding_w", "dilation_w", "taps_w", "window_w", "apart_w",
             "output_step_w", "tap_step_w"});
}

/// The words of y that an invocation stores at once: a vector where they are neighbours and the first is
/// aligned to it. Words past a row of 4W4C are its padding.
std::int64_t words_stored(const Convolution& conv, const Part& part, Layout y) {
  if (y == Layout::P4C) return 1;
  for (const std::int64_t words : {4, 2}) {
    const bool rows_are_whole = y == Layout::P4W4C || conv.size_of_y()[1] % words == 0;
    if (part.w.outputs % words == 0 && rows_are_whole) return words;
  }
  return 1;
}

/// Whether an invocation may load two neighbours of x at once: they are side by side in memory, the first one
/// at an even word, and windows begin at an even column, apart from the padding.
bool loads_pairs(const Convolution& conv, const Part& part, const Physical& x) {
  const bool are_neighbours = kernel_strides(x)[3].lane == 1;
  const bool rows_are_even = x.form().layout == Layout::P4W4C || conv.w % 2 == 0;
  const bool steps_are_even = part.w.outputs * conv.stride[1] % 2 == 0;
  return are_neighbours && rows_are_even && steps_are_even && part.w.taps == conv.kernel[1] &&
         part.w.apart == 1 && part.w.window > 1;
}

void add_part(Dispatch& dispatch, const Part& part, Products products, bool has_dot) {
  const std::int64_t words = std::max(least_words, power_of_two_from(part.words()));
  dispatch.defines.push_back(products_define(products));
  if (products == Products::Dot) dispatch.defines.push_back({"DOT", flag(has_dot)});
  dispatch.defines.push_back({"ROWS", std::to_string(part.h.outputs)});
  dispatch.defines.push_back({"COLUMNS", std::to_string(part.w.outputs)});
  dispatch.defines.push_back({"OUTPUTS", std::to_string(part.outputs())});
  dispatch.defines.push_back({"WORDS", std::to_string(words)});
}

void add_places(PushConstants& push, const Physical& physical) {
  const std::array<Physical::Stride, 4> strides = kernel_strides(physical);
  push.add(strides[0].lane).add(strides[1].block).add(strides[2].lane);
  push.add(strides[3].block).add(strides[3].lane);
}

bool is_in_fours(const Physical& physical) {
  return physical.form().layout == Layout::P4W4C;
}

void add_order(PushConstants& push, const Order& order) {
  push.add(order.count());
  for (const std::int64_t size : {order.inner, order.quads, order.outer, order.bands}) {
    push.add(size);
    add(push, divider(size));
  }
}

// In the order of add_push: the constants of shaders/convolution/depthwise_numbers.glslh.
constexpr std::array<std::string_view, 31> baked_words{
    "count",       "inner",     "inner_multiplier", "inner_shift", "quads",        "quads_multiplier",
    "quads_shift", "outer",     "outer_multiplier", "outer_shift", "bands",        "bands_multiplier",
    "bands_shift", "x_height",  "x_width",          "y_height",    "y_width",      "x_n",
    "x_quad",      "x_h",       "x_w_block",        "x_w_lane",    "y_n",          "y_quad",
    "y_h",         "y_w_block", "y_w_lane",         "x_scale",     "x_zero_point", "y_inverse_scale",
    "y_zero_point"};

void add_push(Dispatch& dispatch, const BuildContext& context, const Convolution& conv, const Order& order) {
  const QParams x = context.params.qparams("x"), y = context.params.qparams("y");
  PushConstants& push = dispatch.push;
  add_order(push, order);
  push.add(conv.h).add(conv.w).add(conv.size_of_y()[0]).add(conv.size_of_y()[1]);
  add_places(push, tensor_named(context, "x").physical);
  add_places(push, tensor_named(context, "y").physical);
  push.add(x.scale).add(std::int64_t{x.zero_point}).add(1.0F / y.scale).add(std::int64_t{y.zero_point});
  bake(dispatch, baked_words, wants_bake(context));
}

Program build(const BuildContext& context) {
  const Convolution conv = references::checked_convolution(context.params);
  const Part part = part_of(context);
  const Products products = products_of(context, context.device.dot_product_accelerated);
  const TensorAt x = tensor_named(context, "x"), y = tensor_named(context, "y");
  const Order order = order_of(conv, part, y.physical.form().layout);
  Program program;
  Dispatch dispatch{.label = "convolve", .shader = "conv_depthwise.comp"};
  add_part(dispatch, part, products, context.device.has(Feature::DotProduct));
  bind(dispatch, "X", x.resource);
  bind(dispatch, "W", packed_taps(program, context, conv, products));
  add_epilogue(program, dispatch, context, conv);
  bind(dispatch, "Y", y.resource);
  const std::int64_t stored = words_stored(conv, part, y.physical.form().layout);
  dispatch.defines.push_back({"X_PAIRS", flag(loads_pairs(conv, part, x.physical))});
  dispatch.defines.push_back({"STORED", std::to_string(stored)});
  dispatch.defines.push_back({"STORES", std::to_string(part.outputs() / stored)});
  add_geometry(dispatch, conv, part);
  set_constant(dispatch, "x_in_fours", is_in_fours(x.physical) ? 1 : 0);
  set_constant(dispatch, "y_in_fours", is_in_fours(y.physical) ? 1 : 0);
  add_push(dispatch, context, conv, order);
  set_grid(dispatch, context, order.count());
  program.dispatches.push_back(std::move(dispatch));
  return program;
}

std::optional<std::string> invalid_reason(const ImplPoint& point) {
  if (auto reason = convolution_invalid_reason(point)) return reason;
  const Convolution conv = references::checked_convolution(point.params);
  const Part part = part_of(point);
  if (part.outputs() > most_outputs) {
    return fmt::format("{} x {} pixels per invocation exceed the {} that stay in registers", part.h.outputs,
                       part.w.outputs, most_outputs);
  }
  return cannot_sum(products_of(point, false), conv, part);
}

/// Loops over the rows of the kernel and over its columns take an iteration for the taps that are processed
/// at once.
std::optional<std::string> unsupported_reason(const BuildContext& context) {
  const Convolution conv = references::checked_convolution(context.params);
  const Part part = part_of(context);
  const std::int64_t of_row = turns(conv.kernel[1] / part.w.taps);
  return loops_unsupported_reason(turns(conv.kernel[0] / part.h.taps, of_row), context.device);
}

std::vector<Tunable> tunables() {
  return {{.name = "rows",
           .doc = "rows of y per invocation; by default chosen from the tensor's size",
           .allowed = {1, 2, 4, 8}},
          {.name = "columns", .doc = "columns of y per invocation", .allowed = {1, 2, 4, 8}},
          {.name = "products",
           .min = 0,
           .max = 2,
           .doc = "how products are summed: 0 in int32; 1 in float32, where it holds all sums exactly; 2 by "
                  "dot products of neighbouring taps, for kernels of 2 to 4 columns"},
          local_size_tunable(),
          bake_tunable()};
}

Ceiling ceiling_here(const BuildContext& context) {
  const DeviceInfo& device = context.device;
  const bool dots = products_of(context, device.dot_product_accelerated) == Products::Dot;
  return dots && device.has(Feature::DotProduct) ? Ceiling::Dot4x8 : Ceiling::Fp32;
}

/// An invocation computes several pixels of y, four channels of each.
Impl depthwise_direct() {
  return {.name = "direct",
          .summary =
              "an invocation computes several pixels of y, four channels of each, from words of x that "
              "these share",
          .ceiling_here = ceiling_here,
          .tunables = tunables(),
          .build = build,
          .invalid_reason = invalid_reason,
          .unsupported_reason = unsupported_reason};
}

Impl choosing() {
  Impl impl{.name = "auto"};
  impl.summary = "`direct`";
  impl.choose = [](const BuildContext&) { return std::vector<std::string>{"direct"}; };
  return impl;
}

}  // namespace

Op q8ta_conv2d_dw() {
  return integer_convolution(
      "q8ta_conv2d_dw",
      "depthwise convolution: int8 x and y with one scale each, int8 weights with one scale per channel",
      ConvolutionKind::Depthwise, Layout::P4C1W, {depthwise_direct(), choosing()});
}

}  // namespace assay::ops
