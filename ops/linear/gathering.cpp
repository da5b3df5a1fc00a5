#include "ops/linear/gathering.h"

#include "ops/common/grid.h"
#include "ops/common/shader_values.h"
#include "ops/common/tensor_at.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <string_view>

namespace assay::ops {
namespace {

using references::Convolution;

constexpr std::int64_t lanes = 4;  // values of a word
constexpr std::int64_t words_of_unit = 4;
constexpr std::int64_t bytes_of_half = 2;

std::int64_t words_of(std::int64_t channels) {
  return div_up(channels, lanes);
}

bool stores_by_strides(const Physical& y) {
  return y_layout_of_images(y) == std::string_view("Y_PIXELS");
}

/// The distances between words of channels, in words. `last`: the name of the distance between the words of a
/// pixel.
void set_strides(Dispatch& dispatch, const std::string& side, const Physical& images, const char* last) {
  const auto [n, c, h, w] = kernel_strides(images);
  set_constant(dispatch, side + "_of_image", n.lane);
  set_constant(dispatch, side + "_of_row", h.lane);
  set_constant(dispatch, side + "_of_four_columns", w.block);
  set_constant(dispatch, side + "_of_column", w.lane);
  set_constant(dispatch, last, c.block);
}

/// The constants of shaders/linear/taps.glslh.
void add_taps(Dispatch& dispatch, const Gathering& gathering) {
  const Convolution& conv = gathering.conv;
  dispatch.defines.push_back({"TRANSPOSED", flag(conv.transposed)});
  set_constant(dispatch, "x_height", conv.h);
  set_constant(dispatch, "x_width", conv.w);
  set_constant(dispatch, "words_of_pixel", words_of(conv.c));
  set_constant(dispatch, "tap_words", gathering.tap_words);
  set_constant(dispatch, "kernel_width", conv.kernel[1]);
  set_constant(dispatch, "stride_h", conv.stride[0]);
  set_constant(dispatch, "stride_w", conv.stride[1]);
  set_constant(dispatch, "padding_h", conv.padding[0]);
  set_constant(dispatch, "padding_w", conv.padding[1]);
  set_constant(dispatch, "dilation_h", conv.dilation[0]);
  set_constant(dispatch, "dilation_w", conv.dilation[1]);
  set_constant(dispatch, "channels_of_group", gathering.channels_of_group);
}

}  // namespace

Gathering::Gathering(const Convolution& convolution) : conv(convolution) {
  const std::int64_t together = lanes / std::gcd(conv.outputs_of_group(), lanes);
  groups = div_up(conv.groups, together);
  channels_of_group = std::min(together * conv.channels_of_group(), conv.c);
  outputs_of_group = std::min(together * conv.outputs_of_group(), conv.oc);
  for (std::int64_t group = 0; group < groups; ++group) {
    const std::int64_t end = std::min((group + 1) * channels_of_group, conv.c);
    tap_words = std::max(tap_words, words_of(end - first_channel(group)));
  }
}

Gathering Gathering::of_columns(const Gathering& gathering, std::int64_t depth) {
  Convolution columns;
  columns.n = gathering.conv.n;
  columns.c = gathering.groups * depth;
  columns.h = gathering.conv.size_of_y()[0];
  columns.w = gathering.conv.size_of_y()[1];
  columns.oc = gathering.conv.oc;
  Gathering of_columns(columns);
  of_columns.groups = gathering.groups;
  of_columns.channels_of_group = depth;
  of_columns.outputs_of_group = gathering.outputs_of_group;
  of_columns.tap_words = depth / lanes;
  return of_columns;
}

Gathering Gathering::of_halves(const Convolution& convolution) {
  Convolution of_bytes = convolution;
  of_bytes.c *= bytes_of_half;
  return Gathering(of_bytes);
}

std::int64_t Gathering::tiles(std::int64_t columns) const {
  return groups * div_up(outputs_of_group, columns);
}

bool Gathering::has_units(const Physical& x) const {
  return x.form().layout == Layout::P4C && words_of(conv.c) % words_of_unit == 0 &&
         tap_words % words_of_unit == 0 && (groups == 1 || channels_of_group % (lanes * words_of_unit) == 0);
}

Physical bytes_of_halves(const Physical& x) {
  const auto [n, c, h, w] = x.dims();
  return {{Storage::Buffer, Layout::P4C}, DType::I8, {n, bytes_of_half * c, h, w}};
}

void add_gathering(Dispatch& dispatch, const Gathering& gathering, const Physical& x, bool by_units) {
  dispatch.defines.push_back({"GATHERED", "1"});
  dispatch.defines.push_back({"X_WORDS", by_units ? "4" : "1"});
  add_taps(dispatch, gathering);
  set_strides(dispatch, "x", x, "x_of_word");
}

void add_real_images(Dispatch& dispatch, const Gathering& gathering, const Physical& x) {
  dispatch.defines.push_back({"X_LAYOUT", is_texture(x.form()) ? "X_IMAGES_TEXTURE" : "X_IMAGES"});
  dispatch.defines.push_back({"X_ALIGNED", flag(gathering.conv.c % lanes == 0)});
  dispatch.defines.push_back({"X_F16", flag(x.dtype() == DType::F16)});
  add_taps(dispatch, gathering);
  set_constant(dispatch, "channels", gathering.conv.c);
}

void add_channel_groups(Dispatch& dispatch, const Gathering& gathering, std::int64_t columns) {
  const bool has_groups = gathering.groups > 1;
  dispatch.defines.push_back({"CHANNEL_GROUPS", flag(has_groups)});
  if (!has_groups) return;
  set_constant(dispatch, "quads_of_group", gathering.outputs_of_group / lanes);
  set_constant(dispatch, "tiles_of_group", div_up(gathering.outputs_of_group, columns));
}

const char* y_layout_of_images(const Physical& y) {
  if (is_texture(y.form())) return "Y_PIXELS_TEXTURE";
  const bool is_rows = y.form().layout == Layout::P4C || y.form().layout == Layout::CP;
  return is_rows ? "Y_ROWS" : "Y_PIXELS";
}

void add_pixels(Dispatch& dispatch, const Physical& y, bool gathers) {
  if (!gathers && y_layout_of_images(y) == std::string_view("Y_ROWS")) return;
  set_constant(dispatch, "y_height", y.dims().h);
  set_constant(dispatch, "y_width", y.dims().w);
  if (!stores_by_strides(y)) return;
  set_strides(dispatch, "y", y, "y_of_quad");
}

}  // namespace assay::ops
