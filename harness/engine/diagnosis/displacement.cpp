#include "harness/engine/diagnosis/displacement.h"

#include "harness/base/error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <utility>

namespace assay {
namespace {

constexpr std::int64_t most_mapped = std::int64_t{1}
                                     << 20;  ///< largest tensor, in elements, whose memory is searched

/// The positions of a dim's indices among row-major elements.
struct Axis {
  std::int64_t size = 1, stride = 1;

  std::int64_t index(std::int64_t i) const { return i / stride % size; }
  std::int64_t moved(std::int64_t i, std::int64_t to) const {
    return to < 0 || to >= size ? -1 : i + (to - index(i)) * stride;
  }
};

Axis axis_of(const Shape& shape, std::size_t dim) {
  Axis axis{.size = shape[dim]};
  for (std::size_t d = dim + 1; d < shape.size(); ++d) axis.stride *= shape[d];
  return axis;
}

/// The mapping between offsets in a form's memory and elements.
struct Memory {
  std::vector<std::int64_t> element_at;  ///< by offset; -1: padding
  std::vector<std::int64_t> offset_of;   ///< by element
};

Memory memory_of(const Physical& physical) {
  const Dims& dims = physical.dims();
  Memory memory{std::vector<std::int64_t>(static_cast<std::size_t>(physical.elements()), -1), {}};
  for (std::int64_t n = 0; n < dims.n; ++n) {
    for (std::int64_t c = 0; c < dims.c; ++c) {
      for (std::int64_t h = 0; h < dims.h; ++h) {
        for (std::int64_t w = 0; w < dims.w; ++w) {
          const std::int64_t offset = physical.offset(n, c, h, w);
          memory.element_at[static_cast<std::size_t>(offset)] =
              static_cast<std::int64_t>(memory.offset_of.size());
          memory.offset_of.push_back(offset);
        }
      }
    }
  }
  return memory;
}

void add_shifts(std::vector<ElementMap>& maps, const Shape& shape) {
  for (std::size_t dim = shape.size(); dim-- > 0;) {
    for (const std::int64_t delta : {1, -1, 2, -2, 3, -3, 4, -4}) {
      if (std::abs(delta) < shape[dim]) maps.push_back(shifted(shape, dim, delta));
    }
  }
}

void add_exchanges(std::vector<ElementMap>& maps, const Shape& shape, std::optional<std::size_t> packed) {
  for (std::size_t dim = shape.size(); dim-- > 0;) {
    const bool is_packed = dim + 1 == shape.size() || packed == dim;
    for (const std::int64_t mask : {1, 2, 3, 4, 7, 8}) {
      if (mask >= shape[dim]) continue;
      const bool are_lanes = is_packed && mask < 4;
      maps.push_back(
          exchanged(shape, dim, mask, are_lanes ? ElementMap::Kind::Lanes : ElementMap::Kind::Neighbour));
    }
  }
}

/// Adds shifts and exchanges of elements that are counted through all dims.
void add_in_row_major_order(std::vector<ElementMap>& maps, const Shape& shape) {
  const Shape flat{numel(shape)};
  std::vector<ElementMap> made;
  add_exchanges(made, flat, std::nullopt);
  add_shifts(made, flat);
  for (ElementMap& map : made) {
    // The only dim of `flat` is no dim of the tensor.
    map.text = map.text.substr(0, map.text.find(" along dim")) + " in row-major order";
    maps.push_back(std::move(map));
  }
}

void add_fixed(std::vector<ElementMap>& maps, const Shape& shape) {
  for (std::size_t dim = 0; dim < shape.size(); ++dim) {
    if (shape[dim] < 2) continue;
    maps.push_back(fixed_at(shape, dim, 0));
    maps.push_back(fixed_at(shape, dim, shape[dim] - 1));
    maps.push_back(reversed(shape, dim));
  }
}

void add_squares(std::vector<ElementMap>& maps, const Shape& shape) {
  for (std::size_t a = 0; a < shape.size(); ++a) {
    for (std::size_t b = a + 1; b < shape.size(); ++b) {
      for (const std::int64_t side : {4, 2, 3, 8}) {
        if (shape[a] > 1 && shape[b] > 1) maps.push_back(squares_transposed(shape, a, b, side));
      }
    }
  }
}

/// Adds maps for all orders of the dims of `view`; the last `kept` dims stay in place.
void add_orders(std::vector<ElementMap>& maps, const Shape& view, std::size_t kept) {
  std::vector<std::size_t> order(view.size());
  std::iota(order.begin(), order.end(), 0);
  const auto end = order.end() - static_cast<std::ptrdiff_t>(kept);
  while (std::next_permutation(order.begin(), end)) maps.push_back(dims_reordered(view, order));
}

/// Adds the map of a kernel that exchanges the strides of rows and columns. For two dims of one size it would
/// be a transposition, which add_orders() has.
void add_strides(std::vector<ElementMap>& maps, const Shape& shape) {
  if (shape.size() < 2 || shape.back() < 2 || shape.end()[-2] < 2 || shape.back() == shape.end()[-2]) return;
  std::vector<std::size_t> order(shape.size());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order.end()[-1], order.end()[-2]);
  maps.push_back(strided_in_order(shape, order));
}

void add_layouts(std::vector<ElementMap>& maps, const Shape& shape, DType dtype, Form form) {
  for (const LayoutInfo& info : all_layouts()) {
    if (auto map = in_another_layout(shape, dtype, form, info.layout)) maps.push_back(std::move(*map));
  }
  for (const std::int64_t mask : {1, 2, 3}) {
    if (auto map = exchanged_in_memory(shape, dtype, form, mask)) maps.push_back(std::move(*map));
  }
}

double predicted(const WrongOutput& output, const ElementMap& map, std::int64_t i) {
  const std::int64_t from = map.from(i);
  // A missing element explains nothing: the expected value never equals a wrong one.
  return from < 0 ? output.expected(i) : output.expected(from);
}

/// Which lane each of four lanes along an axis holds.
using Lanes = std::array<std::int64_t, 4>;

Lanes best_lanes(const WrongOutput& output, std::int64_t size, std::int64_t stride) {
  std::array<std::array<std::size_t, 4>, 4> counts{};
  for (const std::int64_t i : output.wrong()) {
    const std::int64_t along = i / stride % size;
    const std::int64_t first = along - along % 4;
    for (std::int64_t lane = 0; lane < 4 && first + lane < size; ++lane) {
      const bool is_it = output.explains(i, output.expected(i + (first + lane - along) * stride));
      counts[static_cast<std::size_t>(along % 4)][static_cast<std::size_t>(lane)] += is_it;
    }
  }
  Lanes lanes{0, 1, 2, 3};
  for (std::size_t to = 0; to < 4; ++to) {
    for (std::size_t from = 0; from < 4; ++from) {
      if (counts[to][from] > counts[to][static_cast<std::size_t>(lanes[to])])
        lanes[to] = static_cast<std::int64_t>(from);
    }
  }
  return lanes;
}

std::optional<Explanation> lanes_along(const WrongOutput& output, std::int64_t size, std::int64_t stride,
                                       const std::string& where) {
  if (size < 2) return std::nullopt;
  const Lanes lanes = best_lanes(output, size, stride);
  const auto predict = [&](std::int64_t i) {
    const std::int64_t along = i / stride % size;
    const std::int64_t to = along - along % 4 + lanes[static_cast<std::size_t>(along % 4)];
    return to < size ? output.expected(i + (to - along) * stride) : output.expected(i);
  };
  const double share = output.share_explained(predict);
  if (output.evidence_bits(share * static_cast<double>(output.wrong().size()), 256) < least_bits)
    return std::nullopt;
  return if_enough({ErrorKind::Packing,
                    fmt::format("lanes 0 to 3 of every four {} hold lanes {}", where, fmt::join(lanes, ", ")),
                    share});
}

}  // namespace

std::optional<std::size_t> packed_dim(const Shape& shape, Layout layout) {
  const std::size_t from_end = 4 - info_of(layout).packed_dim();
  if (shape.size() < from_end) return std::nullopt;
  return shape.size() - from_end;
}

ElementMap shifted(const Shape& shape, std::size_t dim, std::int64_t delta) {
  const Axis axis = axis_of(shape, dim);
  return {
      ElementMap::Kind::Neighbour,
      fmt::format("the neighbour {} {} along dim {}", std::abs(delta), delta > 0 ? "further" : "before", dim),
      [axis, delta](std::int64_t i) { return axis.moved(i, axis.index(i) + delta); }};
}

ElementMap exchanged(const Shape& shape, std::size_t dim, std::int64_t mask, ElementMap::Kind kind) {
  const Axis axis = axis_of(shape, dim);
  return {kind, fmt::format("index XOR {} along dim {}", mask, dim),
          [axis, mask](std::int64_t i) { return axis.moved(i, axis.index(i) ^ mask); }};
}

ElementMap fixed_at(const Shape& shape, std::size_t dim, std::int64_t index) {
  const Axis axis = axis_of(shape, dim);
  return {ElementMap::Kind::Neighbour, fmt::format("the value at index {} of dim {}", index, dim),
          [axis, index](std::int64_t i) { return axis.moved(i, index); }};
}

ElementMap reversed(const Shape& shape, std::size_t dim) {
  const Axis axis = axis_of(shape, dim);
  return {ElementMap::Kind::Neighbour, fmt::format("the value at the mirrored index of dim {}", dim),
          [axis](std::int64_t i) { return axis.moved(i, axis.size - 1 - axis.index(i)); }};
}

ElementMap squares_transposed(const Shape& shape, std::size_t a, std::size_t b, std::int64_t side) {
  const Axis first = axis_of(shape, a), second = axis_of(shape, b);
  return {ElementMap::Kind::Transposed,
          fmt::format("the transposed place in a {} x {} square of dims {} and {}", side, side, a, b),
          [first, second, side](std::int64_t i) -> std::int64_t {
            const std::int64_t at_a = first.index(i), at_b = second.index(i);
            const std::int64_t to = first.moved(i, at_a - at_a % side + at_b % side);
            return to < 0 ? -1 : second.moved(to, at_b - at_b % side + at_a % side);
          }};
}

ElementMap dims_reordered(const Shape& shape, const std::vector<std::size_t>& order) {
  Shape reordered;
  for (const std::size_t dim : order) reordered.push_back(shape[dim]);
  return {
      ElementMap::Kind::Transposed,
      fmt::format("its place were the dims of {} in the order {}", to_string(shape), fmt::join(order, ", ")),
      [shape, reordered, order](std::int64_t i) {
        std::int64_t rest = i;
        std::int64_t to = 0;
        for (std::size_t d = order.size(); d-- > 0;) {
          to += rest % reordered[d] * axis_of(shape, order[d]).stride;
          rest /= reordered[d];
        }
        return to;
      }};
}

ElementMap strided_in_order(const Shape& shape, const std::vector<std::size_t>& order) {
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t d = order.size(); d-- > 0;) {
    strides[order[d]] = stride;
    stride *= shape[order[d]];
  }
  return {ElementMap::Kind::Transposed,
          fmt::format("the one at the strides of {} in the order {}, rows for columns", to_string(shape),
                      fmt::join(order, ", ")),
          [shape, strides](std::int64_t i) {
            std::int64_t to = 0;
            for (std::size_t d = shape.size(); d-- > 0; i /= shape[d]) to += i % shape[d] * strides[d];
            return to;
          }};
}

ElementMap middle_exchanged(const Shape& shape, std::size_t dim, std::int64_t group) {
  const Axis axis = axis_of(shape, dim);
  return {ElementMap::Kind::Lanes,
          fmt::format("from the groups 0, 2, 1, 3 of every four groups of {} along dim {}", group, dim),
          [axis, group](std::int64_t i) {
            const std::int64_t along = axis.index(i), of_four = along / group % 4;
            const std::int64_t moved = of_four == 1 ? group : of_four == 2 ? -group : 0;
            return axis.moved(i, along + moved);
          }};
}

std::optional<ElementMap> in_another_layout(const Shape& shape, DType dtype, Form true_form,
                                            Layout taken_for) {
  if (shape.size() > 4 || is_texture(true_form) || true_form.layout == taken_for ||
      numel(shape) > most_mapped)
    return std::nullopt;
  try {
    const auto own = std::make_shared<Memory>(memory_of({true_form, dtype, shape}));
    const auto other = std::make_shared<Memory>(memory_of({{true_form.storage, taken_for}, dtype, shape}));
    if (own->offset_of == other->offset_of) return std::nullopt;
    return ElementMap{
        ElementMap::Kind::Transposed,
        fmt::format("its place were its memory, {}, in {}", to_string(true_form), name_of(taken_for)),
        [own, other](std::int64_t i) -> std::int64_t {
          const auto offset = static_cast<std::size_t>(own->offset_of[static_cast<std::size_t>(i)]);
          return offset < other->element_at.size() ? other->element_at[offset] : -1;
        }};
  } catch (const Error&) {  // a form that cannot hold the dtype
    return std::nullopt;
  }
}

std::optional<ElementMap> exchanged_in_memory(const Shape& shape, DType dtype, Form form, std::int64_t mask) {
  if (shape.size() > 4 || is_texture(form) || numel(shape) > most_mapped) return std::nullopt;
  const auto memory = std::make_shared<Memory>(memory_of({form, dtype, shape}));
  return ElementMap{
      ElementMap::Kind::Lanes, fmt::format("offset XOR {} in memory, {}", mask, to_string(form)),
      [memory, mask](std::int64_t i) -> std::int64_t {
        const auto offset = static_cast<std::size_t>(memory->offset_of[static_cast<std::size_t>(i)] ^ mask);
        return offset < memory->element_at.size() ? memory->element_at[offset] : -1;
      }};
}

std::vector<ElementMap> likely_maps(const Shape& shape, DType dtype, std::optional<Form> form) {
  std::vector<ElementMap> maps;
  add_shifts(maps, shape);
  add_exchanges(maps, shape, form ? packed_dim(shape, form->layout) : std::nullopt);
  add_fixed(maps, shape);
  if (shape.size() > 1) add_in_row_major_order(maps, shape);
  if (shape.size() > 3) {
    maps.push_back(fixed_at({numel({shape.begin(), shape.end() - 2}), shape.end()[-2], shape.back()}, 0, 0));
    maps.back().text = "the value at index 0 of all dims but the last two";
  }
  add_squares(maps, shape);
  add_orders(maps, shape, 0);
  add_strides(maps, shape);
  if (shape.back() % 4 == 0 && shape.back() > 4) {
    Shape quads = shape;
    quads.back() /= 4;
    quads.push_back(4);
    add_orders(maps, quads, 1);
  }
  if (form) add_layouts(maps, shape, dtype, *form);
  return maps;
}

ErrorKind kind_of(ElementMap::Kind kind) {
  switch (kind) {
    case ElementMap::Kind::Neighbour:
      return ErrorKind::Index;
    case ElementMap::Kind::Lanes:
      return ErrorKind::Packing;
    case ElementMap::Kind::Transposed:
      return ErrorKind::Layout;
  }
  return ErrorKind::Index;
}

std::optional<Explanation> explain_displacement(const WrongOutput& output) {
  const Form form = output.test_case().forms[output.tensor()];
  const std::vector<ElementMap> maps = likely_maps(output.shape(), output.spec().dtype, form);
  std::optional<Explanation> best;
  for (const ElementMap& map : maps) {
    const double share = output.share_explained([&](std::int64_t i) { return predicted(output, map, i); });
    if (share < least_share || (best && share <= best->share)) continue;
    const double explained = share * static_cast<double>(output.wrong().size());
    if (output.evidence_bits(explained, static_cast<double>(maps.size())) < least_bits) continue;
    best =
        Explanation{kind_of(map.kind), "the answer is what is expected at another place: " + map.text, share};
  }
  return best;
}

std::optional<Explanation> explain_lanes(const WrongOutput& output) {
  const Shape& shape = output.shape();
  if (auto found = lanes_along(output, shape.back(), 1, "columns")) return found;
  const auto packed = packed_dim(shape, output.test_case().forms[output.tensor()].layout);
  if (packed && *packed + 1 < shape.size()) {
    std::int64_t stride = 1;
    for (std::size_t d = *packed + 1; d < shape.size(); ++d) stride *= shape[d];
    if (auto found = lanes_along(output, shape[*packed], stride, fmt::format("along dim {}", *packed)))
      return found;
  }
  return lanes_along(output, output.numel(), 1, "elements");
}

}  // namespace assay
