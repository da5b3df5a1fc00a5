#include "references/pixel_shuffle/pixel_shuffle.h"

#include "harness/op/op.h"
#include "ops/common/grid.h"
#include "ops/common/shader_values.h"
#include "ops/common/tensor_at.h"
#include "ops/relayout/relayout.h"
#include "ops/relayout/reorder.h"
#include "references/pixel_shuffle/pixel_shuffle.h"

namespace assay::ops {
namespace {

/// Why the output holds the input's values in the same order, or nothing.
std::string copy_because(const Params& params) {
  const Dims in = nchw(params.ints("shape"));
  if (params.integer("upscale_factor") == 1) return "upscale_factor 1 moves no value";
  if (in.h == 1 && in.w == 1) return "the values of a 1x1 image keep their order";
  return "";
}

std::vector<TensorSpec> tensors(const Params& params) {
  const Shape& in = params.ints("shape");
  const DType dtype = parse_dtype(params.choice("dtype")).value();
  return {{.name = "x", .dtype = dtype, .shape = in, .forms = float_forms()},
          {.name = "y",
           .role = TensorSpec::Role::Output,
           .dtype = dtype,
           .shape = references::pixel_shuffled(in, params.integer("upscale_factor")),
           .forms = float_forms(),
           .copy_because = copy_because(params)}};
}

Work work(const Params&, std::span<const TensorSpec> tensors) {
  return streaming_work(tensors);
}

std::int64_t words_of_row(const Physical& physical) {
  return physical.dims().w * static_cast<std::int64_t>(size_of(physical.dtype())) / 4;
}

/// Whether both are width-packed buffers whose rows are pairs of words of x, hence vectors of y.
bool takes_rows(const Physical& x, const Physical& y) {
  const Form row_major{Storage::Buffer, Layout::WP};
  return x.form() == row_major && y.form() == row_major &&
         x.dims().w * static_cast<std::int64_t>(size_of(x.dtype())) % 8 == 0;
}

/// Whether both tensors are channels-packed and the factor is even: from buffers only 2, between buffers only
/// f32. With larger factors and with halves, tiles would read single words that lie a pixel apart; gathering
/// these is faster (shaders/NOTES.md).
bool takes_tiles(const Physical& x, const Physical& y, std::int64_t factor) {
  if (x.form().layout != Layout::CP || y.form().layout != Layout::CP || factor % 2 != 0) return false;
  if (!is_texture(x.form())) return factor == 2 && (x.dtype() == DType::F32 || is_texture(y.form()));
  return is_texture(y.form()) || y.dtype() == DType::F32 || y.dims().c % 4 == 0;
}

Dispatch by_rows(const BuildContext& context, const Physical& x) {
  const std::int64_t columns = words_of_row(x) / 2;
  const std::int64_t quads = x.bytes() / 16;
  const Dims& in = x.dims();
  Dispatch dispatch;
  dispatch.label = "pixel_shuffle";
  dispatch.shader = "pixel_shuffle_rows.comp";
  dispatch.defines = {{"HALVES", flag(x.dtype() == DType::F16)}};
  dispatch.push.add(quads).add(columns).add(in.h).add(in.h * columns);
  add(dispatch.push, divider(columns));
  add(dispatch.push, divider(in.h));
  dispatch.bindings = {Resource::tensor(0), Resource::tensor(1)};
  set_vector_grid(dispatch, context, quads);
  return dispatch;
}

/// Whether a tile is two quads of y from the same texels of x: where the number of loads is the limit, not
/// bytes.
bool takes_two_quads(const Physical& x, const Physical& y, std::int64_t factor) {
  return factor == 2 && is_texture(x.form()) && (x.dtype() == DType::F16 || !is_texture(y.form()));
}

/// Where two quads of y come from the same texels of x, the fastest boxes measured are small ones that keep
/// together the quads that share texels.
Wishes wishes_of_tiles(const Physical& x, const Physical& y, bool tall) {
  Wishes wishes{wish_of_floats(x, std::nullopt), wish_of_floats(y, std::nullopt), false, {}};
  if (tall) wishes.measured = is_texture(y.form()) ? Box{8, 8, 1} : Box{4, 2, 8};
  return wishes;
}

Dispatch by_tiles(const BuildContext& context, const TensorAt& from, const TensorAt& to,
                  std::int64_t factor) {
  const Physical& x = from.physical;
  const Physical& y = to.physical;
  const Dims& out = y.dims();
  const bool tall = takes_two_quads(x, y, factor);
  const Tiles tiles{out.w, tall ? out.h / 2 : out.h, div_up(out.c, 4)};
  Dispatch dispatch;
  dispatch.label = "pixel_shuffle";
  dispatch.shader = "pixel_shuffle_tiles.comp";
  add_form_defines(dispatch, "X", x);
  add_form_defines(dispatch, "Y", y);
  dispatch.defines.push_back({"Y_WHOLE", flag(!is_texture(y.form()) && out.c % 4 == 0)});
  dispatch.defines.push_back({"TALL", flag(tall)});
  dispatch.constants = {{"factor", static_cast<std::uint32_t>(factor)}};
  set_tiles(dispatch, context, from, to, wishes_of_tiles(x, y, tall), tiles);
  return dispatch;
}

std::vector<Tunable> tunables() {
  std::vector<Tunable> all = box_tunables();
  all.push_back(vectors_tunable());
  return all;
}

Program direct(const BuildContext& context) {
  const std::int64_t r = context.params.integer("upscale_factor");
  const TensorAt x = tensor_at(context, 0);
  const TensorAt y = tensor_at(context, 1);
  if (r == 1) return {.dispatches = {move_dispatch(context, "pixel_shuffle", x, y)}};
  if (r == 2 && takes_rows(x.physical, y.physical)) return {.dispatches = {by_rows(context, x.physical)}};
  if (takes_tiles(x.physical, y.physical, r)) {
    return {.dispatches = {by_tiles(context, x, y, r)}};
  }
  return {.dispatches = {shuffle_dispatch(context, "pixel_shuffle", x, y, r)}};
}

Program gather(const BuildContext& context) {
  return {.dispatches = {shuffle_dispatch(context, "pixel_shuffle", tensor_at(context, 0),
                                          tensor_at(context, 1), context.params.integer("upscale_factor"))}};
}

std::optional<std::string> invalid_reason(const ImplPoint& point) {
  return any_too_large(point.tensors, point.forms);
}

}  // namespace

Op pixel_shuffle() {
  return {
      .name = "pixel_shuffle",
      .summary = "pixel shuffle on floats, from any form to any other",
      .params = {shape("shape", rank(4)), integer("upscale_factor").at_least(1).at_most(64),
                 choice("dtype", {"f32", "f16"}).by_default(std::string("f32"))},
      .tensors = tensors,
      .reference = references::pixel_shuffle,
      .work = work,
      .impls = {{.name = "direct",
                 .summary =
                     "interleaves rows in width-packed buffers (factor 2) and lanes of quads where channels "
                     "are packed (factor 2 of f32, any even factor from textures); otherwise as gather",
                 .tunables = tunables(),
                 .build = direct,
                 .invalid_reason = invalid_reason},
                {.name = "gather",
                 .summary = "each invocation looks up four neighbouring values of y",
                 .tunables = {local_size_tunable()},
                 .build = gather,
                 .invalid_reason = invalid_reason}},
  };
}

}  // namespace assay::ops
