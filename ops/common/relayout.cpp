#include "ops/common/relayout.h"

#include "ops/common/grid.h"
#include "ops/common/push.h"

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace assay::ops {
namespace {

constexpr std::int64_t tile = 4;  // values along each side of a tile
// Tiles from which four in one pay: more than large devices hold invocations for.
constexpr std::int64_t many_tiles = 1 << 19;

using Sizes = std::array<std::int64_t, 3>;  // along W, H, C

std::size_t index(Axis axis) {
  return static_cast<std::size_t>(axis);
}

Sizes sizes_of(const Dims& dims) {
  return {dims.w, dims.h, dims.c};
}

/// Axis along which the four quads of a tile are stacked, on the side that is packed along `own`.
Axis stack_axis(Axis own, Axis other) {
  if (own != other) return other;
  return own == Axis::W ? Axis::H : Axis::W;
}

bool is_int8(const Physical& physical) {
  return physical.dtype() == DType::I8;
}

/// Stride of an axis (W, H, C) among those of N, C, H, W.
const Physical::Stride& along(const std::array<Physical::Stride, 4>& strides, Axis axis) {
  return strides[3 - index(axis)];
}

/// Whether layouts pad this axis to blocks of four, so that all of a block exists.
bool is_padded(Layout layout, Axis axis) {
  return (layout == Layout::P4W4C && axis == Axis::W) || (layout == Layout::P4H4W && axis == Axis::H);
}

/// Whether one vector access reaches what the kernel calls whole: a float quad, or the four words of a tile.
bool is_whole(const Physical& physical, Axis stack) {
  const Sizes sizes = sizes_of(physical.dims());
  if (!is_int8(physical)) return sizes[index(packed_axis(physical.form().layout))] % tile == 0;
  const auto strides = kernel_strides(physical);
  const bool complete = is_padded(physical.form().layout, stack) || sizes[index(stack)] % tile == 0;
  if (along(strides, stack).lane != 1 || !complete) return false;
  const auto aligned = [&](Axis axis) {
    const Physical::Stride& stride = along(strides, axis);
    return axis == stack ? stride.block % tile == 0
                         : stride.block % tile == 0 && (stride.lane % tile == 0 || sizes[index(axis)] == 1);
  };
  return aligned(Axis::W) && aligned(Axis::H) && aligned(Axis::C);
}

std::string axis_define(Axis axis) {
  return axis == Axis::W ? "AXIS_W" : axis == Axis::H ? "AXIS_H" : "AXIS_C";
}

void add_defines(Dispatch& dispatch, const std::string& side, const Physical& physical, Axis stack) {
  add_form_defines(dispatch, side, physical);
  dispatch.defines.push_back({side + "_AXIS", axis_define(packed_axis(physical.form().layout))});
  dispatch.defines.push_back({side + "_WHOLE", is_whole(physical, stack) ? "1" : "0"});
}

/// Tiles along each axis that one access of a subgroup should span, for whole sectors of 32 bytes.
Box wish_of(const Physical& physical, Axis stack) {
  constexpr std::uint32_t sector_words = 8;
  Box wish{1, 1, 1};
  const auto ask = [&](Axis axis, std::uint32_t tiles) { wish[index(axis)] = tiles; };
  const Layout layout = physical.form().layout;
  if (!is_int8(physical)) {
    ask(packed_axis(layout), sector_words / 2);
    return wish;
  }
  const bool whole = is_whole(physical, stack);
  switch (layout) {
    case Layout::P4W:
      ask(Axis::W, sector_words);
      break;
    case Layout::P4C:
      ask(Axis::C, sector_words);
      break;
    case Layout::P4C1W:
      ask(Axis::W, whole ? sector_words / 2 : sector_words);
      break;
    case Layout::P4W4C:
      ask(Axis::C, sector_words / 2);
      if (!whole) ask(Axis::W, tile);
      break;
    default:  // 4H4W
      ask(Axis::W, whole ? sector_words / 2 : sector_words / 4);
      if (!whole) ask(Axis::H, tile);
      break;
  }
  return wish;
}

/// Whether an invocation shall move four tiles whose words are neighbours in y: single words, each a line
/// away from the next, are what the kernel is slowest at.
bool is_deep(const Physical& x, const Physical& y, std::int64_t tiles) {
  return is_int8(x) && y.form().layout == Layout::P4C && packed_axis(x.form().layout) == Axis::W &&
         y.dims().c % (4 * tile) == 0 && tiles >= many_tiles;
}

Sizes tiles_of(const Dims& dims, Axis a, Axis b) {
  Sizes tiles = sizes_of(dims);
  for (const Axis axis : {a, b}) tiles[index(axis)] = div_up(tiles[index(axis)], tile);
  return tiles;
}

Sizes within(Sizes tiles, const std::array<std::uint32_t, 3>& most) {
  for (std::size_t i = 0; i < 3; ++i) {
    tiles[i] = std::min(tiles[i], static_cast<std::int64_t>(std::bit_floor(most[i])));
  }
  return tiles;
}

std::uint32_t product(const Box& box) {
  return box[0] * box[1] * box[2];
}

/// The axis that a wish is longest along: the one that neighbours in memory differ in.
std::size_t longest(const Box& wish) {
  return static_cast<std::size_t>(std::max_element(wish.begin(), wish.end()) - wish.begin());
}

}  // namespace

Box choose_box(const Box& x_wish, const Box& y_wish, const std::array<std::int64_t, 3>& tiles,
               std::uint32_t subgroup, std::uint32_t invocations) {
  Box most{}, box{}, x = x_wish;
  for (std::size_t i = 0; i < 3; ++i) {
    most[i] = static_cast<std::uint32_t>(std::bit_ceil(std::min<std::uint64_t>(tiles[i], 1U << 20)));
  }
  const auto join = [&] {
    for (std::size_t i = 0; i < 3; ++i) box[i] = std::min(std::max(x[i], y_wish[i]), most[i]);
  };
  // Where both wishes do not fit one subgroup, reads give way: what they leave unread is cached.
  for (join(); product(box) > subgroup && product(x) > 1; join()) x[longest(x)] /= 2;
  const auto grow = [&](std::initializer_list<std::size_t> order, std::uint32_t wanted) {
    for (const std::size_t axis : order) {
      while (product(box) * 2 <= wanted && box[axis] < most[axis]) box[axis] *= 2;
    }
  };
  grow({longest(y_wish), longest(x_wish), 0, 2, 1}, std::min(subgroup, invocations));
  grow({2, 1, 0}, invocations);
  while (product(box) > invocations) box[longest(box)] /= 2;
  return box;
}

std::optional<std::string> relayout_excludes(const Physical& x, const Physical& y) {
  const bool odd_halves = y.dtype() == DType::F16 && y.form().storage == Storage::Buffer &&
                          sizes_of(y.dims())[index(packed_axis(y.form().layout))] % tile != 0;
  if (odd_halves) {
    return to_string(y.form()) +
           " with rows of f16 that are no multiple of 4 long: two rows share a word, "
           "and this kernel writes row by row";
  }
  if (const auto reason = too_large(x)) return reason;
  return too_large(y);
}

Dispatch relayout_dispatch(const BuildContext& context, std::string label, const TensorAt& x,
                           const TensorAt& y, const Conversion& conversion) {
  if (const auto reason = relayout_excludes(x.physical, y.physical)) throw std::logic_error(*reason);
  const Axis x_axis = packed_axis(x.physical.form().layout);
  const Axis y_axis = packed_axis(y.physical.form().layout);
  const Axis x_stack = stack_axis(x_axis, y_axis);
  const Axis y_stack = stack_axis(y_axis, x_axis);
  const Dims& dims = x.physical.dims();
  Sizes tiles = tiles_of(dims, x_axis, x_stack);
  const std::int64_t all_tiles = dims.n * tiles[0] * tiles[1] * tiles[2];
  const bool deep = is_deep(x.physical, y.physical, all_tiles);
  if (deep) tiles[index(Axis::C)] /= tile;
  const Box y_wish = deep ? Box{1, 1, 4} : wish_of(y.physical, y_stack);

  Dispatch dispatch;
  dispatch.label = std::move(label);
  dispatch.shader = "relayout.comp";
  add_defines(dispatch, "X", x.physical, x_stack);
  add_defines(dispatch, "Y", y.physical, y_stack);
  if (deep) dispatch.defines.back().value = "1";  // Y_WHOLE: it writes vectors
  dispatch.defines.push_back({"DEEP", deep ? "1" : "0"});
  const Box box =
      choose_box(wish_of(x.physical, x_stack), y_wish, within(tiles, context.device.max_workgroup_size),
                 context.device.subgroup_size, tuned_local_size(context, all_tiles));
  std::array<std::int64_t, 3> boxes{};
  for (std::size_t i = 0; i < 3; ++i) boxes[i] = div_up(tiles[i], std::int64_t{box[i]});
  const std::int64_t all_boxes = dims.n * boxes[0] * boxes[1] * boxes[2];
  dispatch.local_size = box;
  dispatch.workgroups = fold_grid(all_boxes, 1);

  PushConstants& push = dispatch.push;
  push.add(dims.w).add(dims.h).add(dims.c).add(all_boxes);
  push.add(boxes[0]).add(boxes[2]).add(boxes[1]);
  for (const std::size_t axis : {0, 2, 1}) add(push, divider(boxes[axis]));
  add_strides(push, x.physical);
  add_strides(push, y.physical);
  push.add(conversion.scale).add(std::int64_t{conversion.zero_point});
  dispatch.bindings = {x.resource, y.resource};
  return dispatch;
}

}  // namespace assay::ops
