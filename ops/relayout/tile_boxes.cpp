#include "ops/relayout/tile_boxes.h"

#include "ops/common/divider.h"
#include "ops/common/grid.h"

#include <algorithm>
#include <bit>

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

}  // namespace assay::ops
