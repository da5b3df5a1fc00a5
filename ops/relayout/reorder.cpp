#include "ops/relayout/reorder.h"

#include "ops/common/grid.h"
#include "ops/common/shader_values.h"
#include "ops/relayout/relayout.h"

#include <array>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace assay::ops {
namespace {

// MOST_DIMS of shaders/relayout/permute.comp, the dims of a permutation in the unfused pixel shuffle.
constexpr std::size_t most_dims = 5;

bool is_row_major_buffer(const Physical& physical) {
  return physical.form() == Form{Storage::Buffer, Layout::WP};
}

Dispatch named(std::string label, std::string shader, const TensorAt& x, const TensorAt& y) {
  Dispatch dispatch;
  dispatch.label = std::move(label);
  dispatch.shader = std::move(shader);
  dispatch.bindings = {x.resource, y.resource};
  return dispatch;
}

/// Whether the gathering kernel counts this axis of y in texels.
bool is_blocked(const Physical& y, Axis axis) {
  return is_texture(y.form()) && axis == packed_axis(y.form().layout);
}

void add_side(PushConstants& push, const Physical& physical, bool is_output) {
  const Dims& dims = physical.dims();
  push.add(dims.w).add(dims.h).add(dims.c);
  const auto divisor = [&](Axis axis, std::int64_t size) {
    return is_output && is_blocked(physical, axis) ? div_up(size, 4) : size;
  };
  add(push, divider(divisor(Axis::W, dims.w)));
  add(push, divider(divisor(Axis::H, dims.h)));
  add(push, divider(divisor(Axis::C, dims.c)));
}

/// Whether four neighbours in a buffer of floats always lie in one row of it.
bool has_whole_rows(const Physical& physical) {
  const Dims& dims = physical.dims();
  const Axis axis = packed_axis(physical.form().layout);
  const std::int64_t row = axis == Axis::W ? dims.w : axis == Axis::H ? dims.h : dims.c;
  return physical.form().storage == Storage::Buffer && row % 4 == 0;
}

/// How each value of y finds its value of x: a value of MAP, and its numbers.
struct Map {
  std::string name;
  std::vector<SpecConstant> constants;
};

/// The dispatch of the gathering kernel; y holds floats. Throws std::logic_error where it does not.
Dispatch gather_dispatch(const BuildContext& context, std::string label, const TensorAt& x, const TensorAt& y,
                         const Map& map, const Conversion& conversion = {}) {
  if (y.physical.dtype() == DType::I8) throw std::logic_error(label + ": gather.comp writes floats alone");
  Dispatch dispatch = named(std::move(label), "gather.comp", x, y);
  add_form_defines(dispatch, "X", x.physical);
  add_form_defines(dispatch, "Y", y.physical);
  dispatch.defines.push_back({"Y_WHOLE", flag(has_whole_rows(y.physical))});
  dispatch.defines.push_back({"MAP", map.name});
  const Form x_form = x.physical.form();
  const Form y_form = y.physical.form();
  dispatch.constants = {{"y_order", static_cast<std::uint32_t>(y_form.layout)},
                        {"x_packed_axis", static_cast<std::uint32_t>(packed_axis(x_form.layout))}};
  dispatch.constants.insert(dispatch.constants.end(), map.constants.begin(), map.constants.end());
  const std::int64_t quads = div_up(y.physical.elements(), 4);
  PushConstants& push = dispatch.push;
  push.add(quads).add(y.physical.elements());
  add_side(push, x.physical, false);
  add_side(push, y.physical, true);
  add_strides(push, x.physical);
  push.add(conversion.scale).add(std::int64_t{conversion.zero_point});
  set_grid(dispatch, context, quads);
  return dispatch;
}

Map view_map() {
  return {"MAP_VIEW", {}};
}

/// `sources`: for each of N, C, H, W of x, the dim of y (0 to 3: N, C, H, W) that it is.
Map permute_map(const std::array<std::uint32_t, 4>& sources) {
  return {"MAP_PERMUTE",
          {{"n_from", sources[0]}, {"c_from", sources[1]}, {"h_from", sources[2]}, {"w_from", sources[3]}}};
}

Map shuffle_map(std::int64_t upscale_factor) {
  return {"MAP_SHUFFLE", {{"upscale", static_cast<std::uint32_t>(upscale_factor)}}};
}

/// Translates `dims` to N, C, H, W for the gathering kernel: entry i is the dim of y that dim i of x is.
std::array<std::uint32_t, 4> sources_of(const Shape& dims) {
  const std::size_t missing = 4 - dims.size();
  std::array<std::uint32_t, 4> sources{};
  std::iota(sources.begin(), sources.end(), 0U);
  for (std::size_t i = 0; i < dims.size(); ++i) {
    sources[missing + static_cast<std::size_t>(dims[i])] = static_cast<std::uint32_t>(missing + i);
  }
  return sources;
}

/// One dim of y: its size, and the distance in x between its neighbours.
struct PermutedDim {
  std::int64_t size = 1;
  std::int64_t step = 0;
};

/// The dims of y, fastest first; dims that stay neighbours are merged.
std::vector<PermutedDim> permuted_dims(const Shape& shape, const Shape& dims) {
  Shape stride(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) stride[i - 1] = stride[i] * shape[i];
  std::vector<PermutedDim> merged;
  for (std::size_t i = dims.size(); i-- > 0;) {
    const auto dim = static_cast<std::size_t>(dims[i]);
    if (shape[dim] == 1) continue;
    if (!merged.empty() && stride[dim] == merged.back().step * merged.back().size) {
      merged.back().size *= shape[dim];
    } else {
      merged.push_back({shape[dim], stride[dim]});
    }
  }
  if (merged.empty()) merged.push_back({1, 1});
  return merged;
}

/// Whether both are buffers in which tensors of equal shape have their values at the same places.
bool has_same_memory(const Physical& x, const Physical& y) {
  if (is_texture(x.form()) || is_texture(y.form()) || x.dtype() != y.dtype()) return false;
  if (x.elements() != y.elements()) return false;
  const Dims& dims = x.dims();
  const std::array<std::int64_t, 4> sizes{dims.n, dims.c, dims.h, dims.w};
  for (std::size_t dim = 0; dim < 4; ++dim) {
    if (sizes[dim] > 1 && x.strides()[dim] != y.strides()[dim]) return false;
  }
  return true;
}

Dispatch copy_dispatch(const BuildContext& context, std::string label, const TensorAt& x, const TensorAt& y) {
  const std::int64_t words = y.physical.bytes() / 4;
  Dispatch dispatch = named(std::move(label), "copy.comp", x, y);
  dispatch.defines = {{"WHOLE_QUADS", flag(words % 4 == 0)}};
  dispatch.push.add(words);
  set_grid(dispatch, context, div_up(words, 4));
  return dispatch;
}

}  // namespace

Dispatch view_dispatch(const BuildContext& context, std::string label, const TensorAt& x, const TensorAt& y) {
  if (is_row_major_buffer(x.physical) && is_row_major_buffer(y.physical)) {
    return copy_dispatch(context, std::move(label), x, y);
  }
  return gather_dispatch(context, std::move(label), x, y, view_map());
}

Dispatch permute_buffers(const BuildContext& context, std::string label, Resource x, Resource y, DType dtype,
                         const Shape& shape, const Shape& dims) {
  std::vector<PermutedDim> merged = permuted_dims(shape, dims);
  if (merged.size() > most_dims) throw std::logic_error("permute_buffers: more than five dims are left");
  Dispatch dispatch;
  dispatch.label = std::move(label);
  dispatch.shader = "permute.comp";
  dispatch.defines = {{"HALVES", flag(dtype == DType::F16)}};
  dispatch.constants = {{"dim_count", static_cast<std::uint32_t>(merged.size())}};
  const std::int64_t elements = numel(shape);
  dispatch.push.add(elements);
  merged.resize(most_dims);
  for (const PermutedDim& dim : merged) {
    dispatch.push.add(dim.size);
    add(dispatch.push, divider(dim.size));
    dispatch.push.add(dim.step);
  }
  dispatch.bindings = {x, y};
  set_grid(dispatch, context, div_up(elements, 4));
  return dispatch;
}

Dispatch permute_dispatch(const BuildContext& context, std::string label, const TensorAt& x,
                          const TensorAt& y, const Shape& dims) {
  if (is_row_major_buffer(x.physical) && is_row_major_buffer(y.physical)) {
    return permute_buffers(context, std::move(label), x.resource, y.resource, x.physical.dtype(),
                           x.physical.shape(), dims);
  }
  return gather_dispatch(context, std::move(label), x, y, permute_map(sources_of(dims)));
}

Dispatch move_dispatch(const BuildContext& context, std::string label, const TensorAt& x, const TensorAt& y,
                       const Conversion& conversion) {
  if (has_same_memory(x.physical, y.physical)) return copy_dispatch(context, std::move(label), x, y);
  if (!relayout_invalid_reason(x.physical, y.physical)) {
    return relayout_dispatch(context, std::move(label), x, y, conversion);
  }
  return gather_dispatch(context, std::move(label), x, y, permute_map({0, 1, 2, 3}), conversion);
}

Dispatch shuffle_dispatch(const BuildContext& context, std::string label, const TensorAt& x,
                          const TensorAt& y, std::int64_t upscale_factor) {
  return gather_dispatch(context, std::move(label), x, y, shuffle_map(upscale_factor));
}

}  // namespace assay::ops
