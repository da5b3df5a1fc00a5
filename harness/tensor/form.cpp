#include "harness/tensor/form.h"

#include "harness/base/error.h"
#include "harness/base/names.h"

#include <fmt/format.h>

#include <cctype>
#include <limits>

namespace assay {
namespace {

constexpr Names<3> storage_names{"buffer", "texture3d", "texture2d"};

constexpr Names<6> texel_names{"rgba32f", "rgba16f", "rgba32i", "rgba16i", "rgba8i", "rgba8ui"};

std::array<std::int64_t, 4> sizes(const Dims& dims) {
  return {dims.n, dims.c, dims.h, dims.w};
}

/// Lays out the terms of `order` (LayoutInfo) in memory and returns the strides of N, C, H and W. `elements`
/// becomes their number.
std::array<Physical::Stride, 4> lay_out(std::string_view order, const Dims& dims, std::int64_t& elements) {
  std::array<Physical::Stride, 4> strides{};
  std::int64_t step = 1;
  for (auto term = order.rbegin(); term != order.rend(); ++term) {
    std::size_t dim = LayoutInfo::dim_of(*term);
    if (dim == order.npos) {
      dim = LayoutInfo::dim_of(static_cast<char>(std::tolower(*term)));
      strides[dim].block = step;
      step *= div_up(sizes(dims)[dim], 4);
      continue;
    }
    const bool has_blocks = order.find(LayoutInfo::blocks_of(dim)) != order.npos;
    strides[dim] = {4 * step, step};
    step *= has_blocks ? 4 : sizes(dims)[dim];
  }
  elements = step;
  return strides;
}

/// Returns the texels in x, y and z: W, H and N*C, the packed dim in blocks of four.
std::array<std::int64_t, 3> texels(Layout layout, const Dims& dims) {
  std::array<std::int64_t, 4> counts = sizes(dims);
  std::int64_t& packed = counts[info_of(layout).packed_dim()];
  packed = div_up(packed, 4);
  return {counts[3], counts[2], counts[0] * counts[1]};
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
  if (is_texture(form) && !info_of(form.layout).fits_textures()) {
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

std::string to_string(Form form) {
  return fmt::format("{}/{}", name_of(form.storage), name_of(form.layout));
}

std::optional<Form> parse_form(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == text.npos) return std::nullopt;
  std::string_view storage_name = text.substr(0, slash);
  if (storage_name == "texture") storage_name = "texture3d";
  const auto storage = value_in<Storage>(storage_names, storage_name);
  const auto layout = parse_layout(text.substr(slash + 1));
  if (!storage || !layout) return std::nullopt;
  if (*storage != Storage::Buffer && !info_of(*layout).fits_textures()) return std::nullopt;
  return Form{*storage, *layout};
}

std::vector<Form> all_forms() {
  std::vector<Form> forms;
  for (std::size_t storage = 0; storage < storage_names.size(); ++storage) {
    for (const LayoutInfo& info : all_layouts()) {
      const Form form{static_cast<Storage>(storage), info.layout};
      if (!is_texture(form) || info.fits_textures()) forms.push_back(form);
    }
  }
  return forms;
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
    strides_ = lay_out(info_of(form.layout).texture_order, dims_, elements_);
    extent_ = checked_extent(form, shape, dims_);
  } else {
    strides_ = lay_out(info_of(form.layout).buffer_order, dims_, elements_);
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
