#include "ops/common/reorder.h"

#include "ops/common/grid.h"
#include "ops/common/push.h"
#include "ops/common/relayout.h"

#include <numeric>
#include <stdexcept>
#include <utility>

namespace assay::ops {
namespace {

constexpr std::size_t most_dims = 6;  // MOST_DIMS of shaders/permute.comp

constexpr std::uint32_t y_order_id = SpecConstant::first_free;
constexpr std::uint32_t x_packed_axis_id = SpecConstant::first_free + 1;
constexpr std::uint32_t first_source_id = SpecConstant::first_free + 2;

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

/// Whether the kernel counts this axis of y in blocks of four.
bool is_blocked(const Physical& y, Axis axis) {
  const Layout layout = y.form().layout;
  if (layout == Layout::P4W4C) return axis != Axis::H;
  if (layout == Layout::P4H4W) return axis != Axis::C;
  const bool has_padding = y.form().storage != Storage::Buffer || is_int8x4(layout);
  return has_padding && axis == packed_axis(layout);
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

/// The gathering kernel. `sources`: which dim of y (0 to 3: N, C, H, W) each of N, C, H, W of x is; empty: a
/// view.
Dispatch gather_dispatch(const BuildContext& context, std::string label, const TensorAt& x, const TensorAt& y,
                         const std::vector<std::uint32_t>& sources, const Conversion& conversion = {}) {
  Dispatch dispatch = named(std::move(label), "gather.comp", x, y);
  add_form_defines(dispatch, "X", x.physical);
  add_form_defines(dispatch, "Y", y.physical);
  dispatch.defines.push_back({"MAP", sources.empty() ? "MAP_VIEW" : "MAP_PERMUTE"});
  const Form x_form = x.physical.form();
  const Form y_form = y.physical.form();
  dispatch.constants = {{y_order_id, static_cast<std::uint32_t>(y_form.layout)},
                        {x_packed_axis_id, static_cast<std::uint32_t>(packed_axis(x_form.layout))}};
  for (std::uint32_t i = 0; i < sources.size(); ++i) {
    dispatch.constants.push_back({first_source_id + i, sources[i]});
  }
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

/// `dims` among N, C, H, W, for the gathering kernel: entry i says which dim of y dim i of x is.
std::vector<std::uint32_t> sources_of(const Shape& dims) {
  const std::size_t missing = 4 - dims.size();
  std::vector<std::uint32_t> sources(4);
  std::iota(sources.begin(), sources.end(), 0U);
  for (std::size_t i = 0; i < dims.size(); ++i) {
    sources[missing + static_cast<std::size_t>(dims[i])] = static_cast<std::uint32_t>(missing + i);
  }
  return sources;
}

/// One dim of y: its size, and how far apart its neighbours lie in x.
struct PermutedDim {
  std::int64_t size = 1;
  std::int64_t step = 0;
};

/// The dims of y, fastest first, those merged that stay neighbours.
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

}  // namespace

Dispatch view_dispatch(const BuildContext& context, std::string label, const TensorAt& x, const TensorAt& y) {
  if (!is_row_major_buffer(x.physical) || !is_row_major_buffer(y.physical)) {
    return gather_dispatch(context, std::move(label), x, y, {});
  }
  const std::int64_t words = y.physical.bytes() / 4;
  Dispatch dispatch = named(std::move(label), "copy.comp", x, y);
  dispatch.defines = {{"WHOLE_QUADS", words % 4 == 0 ? "1" : "0"}};
  dispatch.push.add(words);
  set_grid(dispatch, context, div_up(words, 4));
  return dispatch;
}

Dispatch permute_buffers(const BuildContext& context, std::string label, Resource x, Resource y, DType dtype,
                         const Shape& shape, const Shape& dims) {
  std::vector<PermutedDim> merged = permuted_dims(shape, dims);
  if (merged.size() > most_dims) throw std::logic_error("permute_buffers: more than six dims are left");
  Dispatch dispatch;
  dispatch.label = std::move(label);
  dispatch.shader = "permute.comp";
  dispatch.defines = {{"HALVES", dtype == DType::F16 ? "1" : "0"}};
  dispatch.constants = {{SpecConstant::first_free, static_cast<std::uint32_t>(merged.size())}};
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
  return gather_dispatch(context, std::move(label), x, y, sources_of(dims));
}

Dispatch move_dispatch(const BuildContext& context, std::string label, const TensorAt& x, const TensorAt& y,
                       const Conversion& conversion) {
  if (!relayout_excludes(x.physical, y.physical)) {
    return relayout_dispatch(context, std::move(label), x, y, conversion);
  }
  return gather_dispatch(context, std::move(label), x, y, {0, 1, 2, 3}, conversion);
}

}  // namespace assay::ops
