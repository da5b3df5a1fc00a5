#include "ops/relayout/relayout.h"

#include "ops/common/grid.h"
#include "ops/common/shader_values.h"
#include "ops/common/tensor_at.h"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <utility>

namespace assay::ops {
namespace {

std::uint32_t product(const Box& box) {
  return box[0] * box[1] * box[2];
}

/// The axis along which the wanted box is longest, along which neighbours in memory lie.
std::size_t longest(const Box& wish) {
  return static_cast<std::size_t>(std::max_element(wish.begin(), wish.end()) - wish.begin());
}

Tiles within(Tiles tiles, const std::array<std::uint32_t, 3>& most) {
  for (std::size_t i = 0; i < 3; ++i) {
    tiles[i] = std::min(tiles[i], static_cast<std::int64_t>(std::bit_floor(most[i])));
  }
  return tiles;
}

constexpr std::int64_t tile = 4;  // values along each side of a tile
// From this many tiles on, moving four by one invocation pays: more than large devices hold invocations.
constexpr std::int64_t many_tiles = 1 << 19;
// From this many values on, square boxes pay.
constexpr std::int64_t many_values = many_tiles * tile * tile;
constexpr std::int64_t halves_side = 8;  // SIDE of shaders/relayout/relayout_halves.comp

using Sizes = Tiles;  // values along W, H, C

std::size_t index(Axis axis) {
  return static_cast<std::size_t>(axis);
}

Sizes sizes_of(const Dims& dims) {
  return {dims.w, dims.h, dims.c};
}

/// The axis along which the four quads of a tile are stacked, on the side that is packed along `own`.
Axis stack_axis(Axis own, Axis other) {
  if (own != other) return other;
  return own == Axis::W ? Axis::H : Axis::W;
}

bool is_int8(const Physical& physical) {
  return physical.dtype() == DType::I8;
}

/// The stride of an axis (W, H, C), from those of N, C, H, W.
const Physical::Stride& along(const std::array<Physical::Stride, 4>& strides, Axis axis) {
  return strides[3 - index(axis)];
}

/// Whether this layout pads the axis to blocks of four, so that all of a block exists.
bool is_padded(Layout layout, Axis axis) {
  return info_of(layout).word_block_dim() == 3 - index(axis);
}

/// Whether one vector access covers a whole unit of the kernel: a float quad, or the four words of a tile.
bool is_whole(const Physical& physical, Axis stack) {
  const Sizes sizes = sizes_of(physical.dims());
  if (is_texture(physical.form())) return false;
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

void add_defines(Dispatch& dispatch, const std::string& side, const Physical& physical, bool whole) {
  add_form_defines(dispatch, side, physical);
  dispatch.defines.push_back({side + "_AXIS", axis_define(packed_axis(physical.form().layout))});
  dispatch.defines.push_back({side + "_WHOLE", flag(whole)});
}

/// The tiles along each axis that one access of a subgroup should span, for whole memory sectors of 32 bytes.
Box wish_of_bytes(const Physical& physical, Axis stack) {
  constexpr std::uint32_t sector_words = 8;
  Box wish{1, 1, 1};
  const auto ask = [&](Axis axis, std::uint32_t tiles) { wish[index(axis)] = tiles; };
  const Layout layout = physical.form().layout;
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

/// Whether an invocation should move four tiles whose words are neighbours in y: the kernel is slowest at
/// single words that lie a line apart.
bool is_deep(const Physical& x, const Physical& y, std::int64_t tiles) {
  return is_int8(x) && y.form().layout == Layout::P4C && packed_axis(x.form().layout) == Axis::W &&
         y.dims().c % (4 * tile) == 0 && tiles >= many_tiles;
}

/// How a tensor is cut into tiles, each moved by one invocation.
struct Tiling {
  Axis x_axis, y_axis;    ///< packed axes
  Axis x_stack, y_stack;  ///< axes along which the four quads of a tile are stacked
  bool scatter;           ///< a tile is one texel, whose values are written apart
  bool gather;            ///< a tile is one texel, whose values are read apart
  bool single;            ///< a tile is one quad of floats: scattered, gathered or packed along the same axis
  bool deep;              ///< a tile is sixteen quads
  bool square;            ///< boxes are about as long along both packed axes
  Tiles tiles;
  std::int64_t shallow_tiles;  ///< tiles of all batches, if none were deep
};

Tiling tiling_of(const Physical& x, const Physical& y) {
  Tiling tiling{};
  tiling.x_axis = packed_axis(x.form().layout);
  tiling.y_axis = packed_axis(y.form().layout);
  tiling.x_stack = stack_axis(tiling.x_axis, tiling.y_axis);
  tiling.y_stack = stack_axis(tiling.y_axis, tiling.x_axis);
  tiling.scatter = tiling.x_axis != tiling.y_axis && is_texture(x.form()) && !is_texture(y.form()) &&
                   y.dtype() == DType::F32;
  tiling.gather = tiling.x_axis != tiling.y_axis && is_texture(y.form()) && !is_int8(x) &&
                  (tiling.x_axis == Axis::W || (tiling.x_axis == Axis::H && !is_texture(x.form())));
  tiling.single =
      tiling.scatter || tiling.gather || (tiling.x_axis == tiling.y_axis && !is_int8(x) && !is_int8(y));
  Tiles& tiles = tiling.tiles = sizes_of(x.dims());
  const auto cut = [&](Axis axis) { tiles[index(axis)] = div_up(tiles[index(axis)], tile); };
  cut(tiling.gather ? tiling.y_axis : tiling.x_axis);
  if (!tiling.single) cut(tiling.x_stack);
  tiling.shallow_tiles = x.dims().n * tiles[0] * tiles[1] * tiles[2];
  tiling.deep = is_deep(x, y, tiling.shallow_tiles);
  tiling.square = !is_int8(x) && !is_int8(y) && !is_texture(x.form()) && !is_texture(y.form()) &&
                  x.elements() >= many_values;
  if (tiling.deep) tiles[index(Axis::C)] /= tile;
  return tiling;
}

/// The box for a buffer whose values are read or written one by one: neighbours along its packed axis fill
/// sectors.
Box wish_of_apart(Axis packed) {
  constexpr std::uint32_t neighbours = 16;
  Box wish{1, 1, 1};
  wish[index(packed)] = neighbours;
  return wish;
}

Box wish_of(const Physical& physical, Axis stack, const Tiling& tiling) {
  if (is_int8(physical)) return wish_of_bytes(physical, stack);
  if ((tiling.scatter || tiling.gather) && !is_texture(physical.form())) {
    return wish_of_apart(packed_axis(physical.form().layout));
  }
  return wish_of_floats(physical, tiling.single ? std::nullopt : std::optional(stack));
}

/// Boxes that are faster than those that both sides ask for (measured on an H100, shaders/NOTES.md).
std::optional<Box> measured_box(const Tiling& tiling, const Physical& x, const Physical& y) {
  const bool from_texture = is_texture(x.form());
  if (tiling.x_axis == Axis::H && is_texture(y.form())) {
    if (from_texture && tiling.y_axis != Axis::H) return Box{4, 16, 1};
    if (tiling.gather) return Box{2, 32, 4};
    if (!from_texture) return Box{8, 16, 1};
  }
  if (tiling.gather && x.dtype() == DType::F16) return Box{16, 16, 1};
  return std::nullopt;
}

/// The dispatch without the conversion of values, which its defines and push constants do not state yet.
Dispatch tiled_dispatch(const BuildContext& context, std::string label, const TensorAt& x,
                        const TensorAt& y) {
  const Tiling tiling = tiling_of(x.physical, y.physical);
  const Box x_wish = wish_of(x.physical, tiling.x_stack, tiling);
  const Box y_wish = tiling.deep ? Box{1, 1, 4} : wish_of(y.physical, tiling.y_stack, tiling);
  Dispatch dispatch;
  dispatch.label = std::move(label);
  dispatch.shader = "relayout.comp";
  // Single values are read and written as words, deep tiles are written as vectors.
  const bool x_whole = !tiling.gather && is_whole(x.physical, tiling.x_stack);
  const bool y_whole = tiling.deep || (!tiling.scatter && is_whole(y.physical, tiling.y_stack));
  add_defines(dispatch, "X", x.physical, x_whole);
  add_defines(dispatch, "Y", y.physical, y_whole);
  dispatch.defines.push_back({"DEEP", flag(tiling.deep)});
  dispatch.defines.push_back({"SCATTER", flag(tiling.scatter)});
  dispatch.defines.push_back({"GATHER", flag(tiling.gather)});
  const Wishes wishes{x_wish, y_wish, tiling.square, measured_box(tiling, x.physical, y.physical)};
  set_tiles(dispatch, context, x, y, wishes, tiling.tiles, tiling.shallow_tiles);
  return dispatch;
}

/// Whether relayout_halves.comp can move x to y.
bool takes_halves(const Physical& x, const Physical& y) {
  const auto is_buffer_of_halves = [](const Physical& side) {
    return side.dtype() == DType::F16 && side.form().storage == Storage::Buffer;
  };
  if (!is_buffer_of_halves(x) || !is_buffer_of_halves(y)) return false;
  const Axis x_axis = packed_axis(x.form().layout);
  const Axis y_axis = packed_axis(y.form().layout);
  const Sizes sizes = sizes_of(x.dims());
  return x_axis != y_axis && sizes[index(x_axis)] % halves_side == 0 &&
         sizes[index(y_axis)] % halves_side == 0;
}

Dispatch halves_dispatch(const BuildContext& context, std::string label, const TensorAt& x,
                         const TensorAt& y) {
  const Axis x_axis = packed_axis(x.physical.form().layout);
  const Axis y_axis = packed_axis(y.physical.form().layout);
  Tiles tiles = sizes_of(x.physical.dims());
  for (const Axis axis : {x_axis, y_axis}) tiles[index(axis)] /= halves_side;
  Dispatch dispatch;
  dispatch.label = std::move(label);
  dispatch.shader = "relayout_halves.comp";
  dispatch.defines = {{"X_AXIS", axis_define(x_axis)}, {"Y_AXIS", axis_define(y_axis)}};
  const bool square = x.physical.elements() >= many_values;
  const Wishes wishes{wish_of_floats(x.physical, y_axis), wish_of_floats(y.physical, x_axis), square, {}};
  set_tiles(dispatch, context, x, y, wishes, tiles);
  return dispatch;
}

}  // namespace

Box choose_box(const Wishes& wishes, const Tiles& tiles, std::uint32_t subgroup, std::uint32_t invocations) {
  Box most{}, box{}, x = wishes.x;
  for (std::size_t i = 0; i < 3; ++i) {
    most[i] = static_cast<std::uint32_t>(std::bit_ceil(std::min<std::uint64_t>(tiles[i], 1U << 20)));
  }
  const auto grow = [&](std::initializer_list<std::size_t> order, std::uint32_t wanted) {
    for (const std::size_t axis : order) {
      while (product(box) * 2 <= wanted && box[axis] < most[axis]) box[axis] *= 2;
    }
  };
  const auto halve = [&] {
    while (product(box) > invocations) box[longest(box)] /= 2;
  };
  if (wishes.measured) {
    for (std::size_t i = 0; i < 3; ++i) box[i] = std::min((*wishes.measured)[i], most[i]);
    halve();
    grow({2, 1, 0}, invocations);
    return box;
  }
  const auto join = [&] {
    for (std::size_t i = 0; i < 3; ++i) box[i] = std::min(std::max(x[i], wishes.y[i]), most[i]);
  };
  // Where the wishes of both sides do not fit in one subgroup, reads give way: what they leave unread is
  // cached.
  for (join(); product(box) > subgroup && product(x) > 1; join()) x[longest(x)] /= 2;
  const std::size_t along_x = longest(wishes.x);
  const std::size_t along_y = longest(wishes.y);
  grow({along_y, along_x, 0, 2, 1}, std::min(subgroup, invocations));
  const auto widen_square = [&] {
    const std::size_t shorter = box[along_x] < box[along_y] ? along_x : along_y;
    const bool fits = product(box) * 2 <= invocations && box[shorter] < most[shorter];
    if (fits) box[shorter] *= 2;
    return fits;
  };
  while (wishes.square && widen_square()) {
  }
  grow({2, 1, 0}, invocations);
  halve();
  return box;
}

Box wish_of_floats(const Physical& physical, std::optional<Axis> stack) {
  constexpr std::uint32_t quads_of_sectors = 4;
  const auto index = [](Axis axis) { return static_cast<std::size_t>(axis); };
  Box wish{1, 1, 1};
  if (physical.form().storage == Storage::Buffer) {
    wish[index(packed_axis(physical.form().layout))] = quads_of_sectors;
    return wish;
  }
  wish[index(Axis::W)] = stack == Axis::W ? 2 : 4;
  wish[index(Axis::H)] = stack == Axis::H ? 1 : 2;
  return wish;
}

std::vector<Tunable> box_tunables() {
  std::vector<Tunable> tunables =
      local_side_tunables("tiles of a workgroup along W, H or C; by default chosen from both forms");
  tunables.insert(tunables.begin(), local_size_tunable());
  return tunables;
}

void set_tiles(Dispatch& dispatch, const BuildContext& context, const TensorAt& x, const TensorAt& y,
               const Wishes& wishes, const Tiles& tiles, std::optional<std::int64_t> invocations) {
  const Dims& sizes = y.physical.dims();
  dispatch.push.add(sizes.w).add(sizes.h).add(sizes.c);
  set_box_grid(dispatch, context, wishes, tiles, sizes.n,
               invocations.value_or(sizes.n * tiles[0] * tiles[1] * tiles[2]));
  add_strides(dispatch.push, x.physical);
  add_strides(dispatch.push, y.physical);
  dispatch.bindings = {x.resource, y.resource};
}

void set_box_grid(Dispatch& dispatch, const BuildContext& context, const Wishes& wishes, const Tiles& tiles,
                  std::int64_t batches, std::int64_t invocations) {
  const DeviceInfo& device = context.device;
  std::uint32_t local = default_local_size(invocations, device);
  if (wishes.measured) local = std::min(local, product(*wishes.measured));
  local = static_cast<std::uint32_t>(context.tuned("local_size", local));
  Box box = choose_box(wishes, within(tiles, device.max_workgroup_size), device.subgroup_size, local);
  for (std::size_t i = 0; i < 3; ++i) box[i] = tuned_side(context, i, box[i]);
  Tiles boxes{};
  for (std::size_t i = 0; i < 3; ++i) boxes[i] = div_up(tiles[i], std::int64_t{box[i]});
  const std::int64_t all_boxes = batches * boxes[0] * boxes[1] * boxes[2];
  dispatch.local_size = box;
  dispatch.workgroups = fold_grid(all_boxes, 1, device.max_workgroup_count[0]);
  dispatch.push.add(all_boxes).add(boxes[0]).add(boxes[2]).add(boxes[1]);
  for (const std::size_t axis : {0, 2, 1}) add(dispatch.push, divider(boxes[axis]));
}

std::optional<std::string> relayout_invalid_reason(const Physical& x, const Physical& y) {
  const bool odd_halves = y.dtype() == DType::F16 && y.form().storage == Storage::Buffer &&
                          sizes_of(y.dims())[index(packed_axis(y.form().layout))] % tile != 0;
  if (odd_halves) {
    return to_string(y.form()) +
           " with rows of f16 whose length is not a multiple of 4: two rows share a word, and this kernel "
           "writes row by row";
  }
  if (const auto reason = too_large(x)) return reason;
  return too_large(y);
}

Dispatch relayout_dispatch(const BuildContext& context, std::string label, const TensorAt& x,
                           const TensorAt& y, const Conversion& conversion) {
  if (const auto reason = relayout_invalid_reason(x.physical, y.physical)) throw std::logic_error(*reason);
  if (takes_halves(x.physical, y.physical)) return halves_dispatch(context, std::move(label), x, y);
  Dispatch dispatch = tiled_dispatch(context, std::move(label), x, y);
  dispatch.push.add(conversion.scale).add(std::int64_t{conversion.zero_point});
  return dispatch;
}

Dispatch rectifying_dispatch(const BuildContext& context, std::string label, const TensorAt& x,
                             const TensorAt& y, const Requantization& requantization) {
  if (const auto reason = relayout_invalid_reason(x.physical, y.physical)) throw std::logic_error(*reason);
  Dispatch dispatch = tiled_dispatch(context, std::move(label), x, y);
  dispatch.defines.push_back({"RELU", "1"});
  dispatch.defines.push_back(rounding_define(context.device));
  add(dispatch.push, requantization);
  return dispatch;
}

}  // namespace assay::ops
