#include "harness/op/op.h"
#include "ops/common/grid.h"
#include "ops/common/shader_values.h"
#include "ops/common/tensor_at.h"
#include "ops/relayout/relayout.h"
#include "ops/relayout/reorder.h"
#include "references/pixel_shuffle/pixel_shuffle.h"

#include <array>
#include <string>
#include <string_view>

namespace assay::ops {
namespace {

constexpr std::int64_t operations_of_requantization = 4;  // -, *, *, +
constexpr std::int64_t largest_tiled_factor = 2;          // larger ones are gathered byte by byte
// With no more output quads than these, an invocation computes one word or one quad, not a whole tile.
constexpr std::int64_t quads_by_word = 1 << 12;
constexpr std::int64_t quads_by_quad = 1 << 14;

bool requantizes(const Params& params) {
  return params.qparams("x") != params.qparams("y");
}

/// Why the output holds the input's values in the same order, or nothing.
std::string copy_because(const Params& params) {
  const Dims in = nchw(params.ints("shape"));
  if (requantizes(params)) return "";
  if (params.integer("upscale_factor") == 1)
    return "upscale_factor 1 moves no value, and both qparams are equal";
  if (in.h == 1 && in.w == 1) return "the values of a 1x1 image keep their order, and both qparams are equal";
  return "";
}

std::vector<TensorSpec> tensors(const Params& params) {
  const Shape& in = params.ints("shape");
  const Shape out = references::pixel_shuffled(in, params.integer("upscale_factor"));
  const std::vector<Form> forms{{Storage::Buffer, Layout::P4W4C}, {Storage::Buffer, Layout::P4C1W}};
  return {
      {.name = "x", .dtype = DType::I8, .shape = in, .forms = forms, .domain = {FillRole::Data, -128, 127}},
      {.name = "y",
       .role = TensorSpec::Role::Output,
       .dtype = DType::I8,
       .shape = out,
       .forms = forms,
       .copy_because = copy_because(params)}};
}

Work work(const Params& params, std::span<const TensorSpec> tensors) {
  Work work = streaming_work(tensors);
  if (requantizes(params)) work.operations = operations_of_requantization * numel(params.ints("shape"));
  return work;
}

/// Whether the words of pixels 4*i to 4*i + 3 lie together at a multiple of 16 bytes.
bool has_quads(Form form, const Dims& dims) {
  return form.layout == Layout::P4W4C || dims.w % 4 == 0;
}

/// The number of the layout in shaders/common/int8x4.glslh.
std::uint32_t layout_constant(Form form) {
  return static_cast<std::uint32_t>(form.layout);
}

/// The tiles of the kernel: rows x columns (quads along the width) x blocks of output channels.
struct Tiles {
  std::int64_t rows, columns, blocks;
};

std::int64_t count(const Tiles& tiles) {
  return tiles.rows * tiles.columns * tiles.blocks;
}

/// The number of invocations that share the output of one input quad: 1, 2 (rows), 4 (quads) or 16 (words).
std::int64_t split_of(const BuildContext& context, const Dims& out) {
  if (context.params.integer("upscale_factor") != 2) return 1;
  const std::int64_t quads = out.n * out.h * div_up(out.w, 4) * div_up(out.c, 4);
  const std::int64_t fallback = quads <= quads_by_word ? 16 : quads <= quads_by_quad ? 4 : 1;
  const std::int64_t asked = context.tuned("split", fallback);
  for (const std::int64_t split : {16, 4, 2}) {
    if (asked >= split) return split;
  }
  return 1;
}

Tiles tiles_of(const Dims& in, const Dims& out, std::int64_t factor, std::int64_t split) {
  const bool gathers = factor > largest_tiled_factor;
  const Dims& rows = gathers || split > 1 ? out : in;
  const Dims& columns = gathers || split > 2 ? out : in;
  return {rows.n * rows.h, div_up(columns.w, 4), div_up(out.c, 4)};
}

// The words of push_constants() as shaders/pixel_shuffle/q8ta_pixel_shuffle.comp bakes them: all except its
// two dividers.
constexpr std::array<std::string_view, 17> baked_words{"tiles",
                                                       "tile_columns",
                                                       "",
                                                       "",
                                                       "",
                                                       "",
                                                       "x_width",
                                                       "x_blocks",
                                                       "y_width",
                                                       "y_blocks",
                                                       "y_channels",
                                                       "x_zero_point",
                                                       "x_scale",
                                                       "y_inverse_scale",
                                                       "y_zero_point",
                                                       "low",
                                                       "high"};

PushConstants push_constants(const Params& params, const Dims& in, const Dims& out, const Tiles& tiles) {
  const QParams& x = params.qparams("x");
  const QParams& y = params.qparams("y");
  PushConstants push;
  push.add(count(tiles)).add(tiles.columns);
  add(push, divider(tiles.columns));
  add(push, divider(tiles.blocks));
  push.add(in.w).add(div_up(in.c, 4)).add(out.w).add(div_up(out.c, 4)).add(out.c);
  push.add(std::int64_t{x.zero_point}).add(x.scale);
  push.add(1.0f / y.scale).add(std::int64_t{y.zero_point});
  push.add(static_cast<float>(-128 - y.zero_point)).add(static_cast<float>(127 - y.zero_point));
  return push;
}

Program fused(const BuildContext& context) {
  const std::int64_t factor = context.params.integer("upscale_factor");
  const Dims in = nchw(context.tensors[0].shape);
  const Dims out = nchw(context.tensors[1].shape);
  const std::int64_t split = split_of(context, out);
  const Tiles tiles = tiles_of(in, out, factor, split);
  Dispatch dispatch;
  dispatch.label = "pixel_shuffle";
  dispatch.shader = "q8ta_pixel_shuffle.comp";
  dispatch.defines = {{"X_QUADS", flag(has_quads(context.forms[0], in))},
                      {"Y_QUADS", flag(has_quads(context.forms[1], out))},
                      rounding_define(context.device)};
  dispatch.constants = {{"upscale", static_cast<std::uint32_t>(factor)},
                        {"x_layout", layout_constant(context.forms[0])},
                        {"y_layout", layout_constant(context.forms[1])},
                        {"requantizes", requantizes(context.params) ? 1u : 0u},
                        {"split", static_cast<std::uint32_t>(split)}};
  dispatch.push = push_constants(context.params, in, out, tiles);
  bake(dispatch, baked_words, wants_bake(context));
  dispatch.bindings = {Resource::tensor(0), Resource::tensor(1)};
  set_grid(dispatch, context, count(tiles) * (split == 16 ? 4 : 1));
  return {.dispatches = {std::move(dispatch)}};
}

/// A scratch tensor between two steps of the chain: f32, row-major.
Scratch between_steps(std::string name, const Shape& shape) {
  return {std::move(name), DType::F32, shape, {Storage::Buffer, Layout::WP}};
}

TensorAt scratch_at(const Program& program, std::uint32_t index) {
  const Scratch& scratch = program.scratch[index];
  return {Resource::scratch(index), {scratch.form, scratch.dtype, scratch.shape}};
}

/// dequantize -> view as {n*c, r, r, h, w} -> permute to {n*c, h, r, w, r} -> view as {n, c, h*r, w*r} ->
/// quantize. Tensors of more than four dims are described by as many elements in four.
Program unfused(const BuildContext& context) {
  const Params& params = context.params;
  const std::int64_t r = params.integer("upscale_factor");
  const Dims in = nchw(context.tensors[0].shape);
  const Dims out = nchw(context.tensors[1].shape);
  Program program;
  program.scratch = {between_steps("real", context.tensors[0].shape),
                     between_steps("pixels apart", {out.n * out.c, r * r, in.h, in.w}),
                     between_steps("pixels in rows", {out.n * out.c, in.h * r, in.w, r}),
                     between_steps("shuffled", context.tensors[1].shape)};
  const auto scratch = [&](std::uint32_t index) { return scratch_at(program, index); };
  std::vector<Dispatch>& steps = program.dispatches;
  steps.push_back(relayout_dispatch(context, "dequantize", tensor_at(context, 0), scratch(0),
                                    dequantizing(params.qparams("x"))));
  steps.push_back(view_dispatch(context, "view", scratch(0), scratch(1)));
  steps.push_back(permute_buffers(context, "permute", Resource::scratch(1), Resource::scratch(2), DType::F32,
                                  {out.n * out.c, r, r, in.h, in.w}, {0, 3, 1, 4, 2}));
  steps.push_back(view_dispatch(context, "view", scratch(2), scratch(3)));
  steps.push_back(relayout_dispatch(context, "quantize", scratch(3), tensor_at(context, 1),
                                    quantizing(params.qparams("y"))));
  for (Dispatch& step : steps) {
    if (step.label == "view") step.role = DispatchRole::Transition;
  }
  return program;
}

std::optional<std::string> invalid_reason(const ImplPoint& point) {
  for (const std::string name : {"x", "y"}) {
    if (auto reason = scale_invalid_reason(name, point.params.qparams(name))) return reason;
  }
  return any_too_large(point.tensors, point.forms);
}

}  // namespace

Op q8ta_pixel_shuffle() {
  return {
      .name = "q8ta_pixel_shuffle",
      .summary = "pixel shuffle on int8x4 tensors, with requantization",
      .params = {shape("shape", rank(4)), integer("upscale_factor").at_least(1).at_most(64), qparams("x"),
                 qparams("y")},
      .tensors = tensors,
      .reference = references::q8ta_pixel_shuffle,
      .work = work,
      .impls = {{.name = "fused",
                 .summary = "one dispatch: bytes shuffled in registers, requantized when the qparams differ",
                 .tunables = {local_size_tunable(),
                              bake_tunable(),
                              {.name = "split",
                               .fallback = 0,
                               .min = 1,
                               .max = 16,
                               .doc = "upscale_factor 2: invocations that share an input quad, rounded down "
                                      "to 1, 2, 4 or 16; by default chosen from the tensor's size"}},
                 .build = fused,
                 .invalid_reason = invalid_reason},
                {.name = "unfused",
                 .summary = "five dispatches: dequantize, view, permute, view, quantize",
                 .tunables = {local_size_tunable()},
                 .build = unfused,
                 .invalid_reason = invalid_reason}},
  };
}

}  // namespace assay::ops
