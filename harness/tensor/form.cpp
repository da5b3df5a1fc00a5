#include "harness/tensor/form.h"

#include "harness/base/error.h"
#include "harness/base/names.h"

#include <fmt/format.h>

#include <limits>

namespace assay {
namespace {

constexpr Names<3> storage_names{"buffer", "texture3d", "texture2d"};
constexpr Names<8> layout_names{"WP", "HP", "CP", "4W", "4C", "4C1W", "4W4C", "4H4W"};

constexpr Names<6> texel_names{"rgba32f", "rgba16f", "rgba32i", "rgba16i", "rgba8i", "rgba8ui"};

/// The terms of an offset, slowest first. A capital letter stands for a dim's blocks of four, whose lanes are
/// the small letter to the right of it; a small letter alone stands for a whole dim.
constexpr Names<8> buffer_orders{"nchw", "ncwh", "nhwc", "nchWw", "nhwCc", "nhCwc", "nhWCwc", "ncHWhw"};
constexpr Names<3> texture_orders{"nchWw", "ncHwh", "nChwc"};

std::array<std::int64_t, 4> sizes(const Dims& dims) {
  return {dims.n, dims.c, dims.h, dims.w};
}

/// Lays out the terms of `order` in memory and returns the strides of N, C, H and W. `elements` becomes their
/// number.
std::array<Physical::Stride, 4> lay_out(std::string_view order, const Dims& dims, std::int64_t& elements) {
  constexpr std::string_view whole = "nchw", blocks = "NCHW";
  std::array<Physical::Stride, 4> strides{};
  std::int64_t step = 1;
  for (auto term = order.rbegin(); term != order.rend(); ++term) {
    if (const std::size_t dim = blocks.find(*term); dim != blocks.npos) {
      strides[dim].block = step;
      step *= div_up(sizes(dims)[dim], 4);
      continue;
    }
    const std::size_t dim = whole.find(*term);
    const bool has_blocks = order.find(blocks[dim]) != order.npos;
    strides[dim] = {4 * step, step};
    step *= has_blocks ? 4 : sizes(dims)[dim];
  }
  elements = step;
  return strides;
}

/// Returns the texels in x, y and z for the layouts WP, HP and CP.
std::array<std::int64_t, 3> texels(Layout layout, const Dims& dims) {
  switch (layout) {
    case Layout::WP:
      return {div_up(dims.w, 4), dims.h, dims.n * dims.c};
    case Layout::HP:
      return {dims.w, div_up(dims.h, 4), dims.n * dims.c};
    default:
      return {dims.w, dims.h, dims.n * div_up(dims.c, 4)};
  }
}

std::array<std::uint32_t, 3> checked_extent(Form form, const Shape& shape, const Dims& dims) {
  const std::array<std::int64_t, 3> wide = texels(form.layout, dims);
  std::array<std::uint32_t, 3> extent{};
  for (std::size_t i = 0; i < 3; ++i) {
    if (wide[i] > std::numeric_limits<std::uint32_t>::max()) {
      throw Error(fmt::format("a tensor {} as {} needs {} texels in one dimension; 2^32 - 1 are possible",
                              to_string(shape), to_string(form), wide[i]));
    }
    extent[i] = static_cast<std::uint32_t>(wide[i]);
  }
  if (form.storage == Storage::Texture2D && extent[2] != 1) {
    throw Error(fmt::format("a tensor {} as {} needs {} slices; a 2D texture has one: use texture3d",
                            to_string(shape), to_string(form), extent[2]));
  }
  return extent;
}

void check_dtype(Form form, DType dtype) {
  if (is_int8x4(form.layout) && is_texture(form)) {
    throw Error(
        fmt::format("form {} is impossible: the int8x4 layouts exist in buffers only", to_string(form)));
  }
  if (is_int8x4(form.layout) && dtype != DType::I8 && dtype != DType::U8) {
    throw Error(fmt::format("form {} cannot hold dtype {}: the int8x4 layouts hold i8 and u8",
                            to_string(form), name_of(dtype)));
  }
  if (dtype == DType::F64 || dtype == DType::I64) {
    throw Error(fmt::format("form {} cannot hold dtype {}, which exists on the host only", to_string(form),
                            name_of(dtype)));
  }
}

}  // namespace

std::string_view name_of(Storage storage) {
  return name_in(storage_names, storage);
}

std::string_view name_of(Layout layout) {
  return name_in(layout_names, layout);
}

std::string to_string(Form form) {
  return fmt::format("{}/{}", name_of(form.storage), name_of(form.layout));
}

std::optional<Form> parse_form(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == text.npos) return std::nullopt;
  std::string_view storage_name = text.substr(0, slash);
  if (storage_name == "texture") storage_name = "texture3d";
  const auto storage = value_in<Storage>(storage_names, storage_name);
  const auto layout = value_in<Layout>(layout_names, text.substr(slash + 1));
  if (!storage || !layout) return std::nullopt;
  if (*storage != Storage::Buffer && is_int8x4(*layout)) return std::nullopt;
  return Form{*storage, *layout};
}

bool is_int8x4(Layout layout) {
  return layout >= Layout::P4W;
}

bool is_texture(Form form) {
  return form.storage != Storage::Buffer;
}

std::string_view texel_name(DType dtype) {
  return name_in(texel_names, dtype);
}

Physical::Physical(Form form, DType dtype, const Shape& shape)
    : form_(form), dtype_(dtype), shape_(shape), dims_(nchw(shape)) {
  check_dtype(form, dtype);
  numel(shape);  // throws if the shape is impossible
  if (is_texture(form)) {
    strides_ = lay_out(name_in(texture_orders, form.layout), dims_, elements_);
    extent_ = checked_extent(form, shape, dims_);
  } else {
    strides_ = lay_out(name_in(buffer_orders, form.layout), dims_, elements_);
  }
}

std::int64_t Physical::bytes() const {
  return round_up(elements_ * static_cast<std::int64_t>(size_of(dtype_)), 4);
}

bool Physical::is_contiguous() const {
  std::int64_t row_major = 1;
  for (std::size_t dim = 4; dim-- > 0;) {
    const std::int64_t size = sizes(dims_)[dim];
    if (size > 1 && strides_[dim].lane != row_major) return false;
    if (size > 4 && strides_[dim].block != 4 * row_major) return false;
    row_major *= size;
  }
  return elements_ == row_major;
}

}  // namespace assay
