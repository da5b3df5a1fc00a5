#pragma once

#include "harness/op/op.h"
#include "harness/op/program.h"
#include "ops/common/tensor_at.h"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace assay::ops {

/// Tiles of a workgroup along W, H and C.
using Box = std::array<std::uint32_t, 3>;
/// Tiles of a tensor's batch along W, H and C.
using Tiles = std::array<std::int64_t, 3>;

/// What makes accesses to both sides fill whole sectors of memory: so many tiles along each axis.
struct Wishes {
  Box x, y;
  /// Whether a box shall be about as long along the axis that x wishes for as along that of y: where tiles
  /// are turned, each side then reads or writes long rows. Else it grows along C.
  bool square = false;
  /// The box that was measured to be the best, instead of all this; halved where the tensor is smaller.
  std::optional<Box> measured;
};

/// A box of about `invocations` tiles, a power of two along each axis, less than twice as long as the tensor
/// has tiles. As far as `subgroup` tiles go it is what both sides wish, and y comes first. Beyond, it becomes
/// a square or grows along C, then it grows along H, then W. Invocations count along W, H, C: growth along C
/// leaves the first subgroup as it was wished.
Box choose_box(const Wishes& wishes, const Tiles& tiles, std::uint32_t subgroup, std::uint32_t invocations);

/// What a tensor of floats wishes for: the quads that one access of a subgroup should span, for whole sectors
/// of 32 bytes. In buffers these lie along the packed axis. Textures keep patches of their x and y together,
/// whatever is packed: 4 x 2 texels. `stack`: a tile is four quads along this axis.
Box wish_of_floats(const Physical& physical, std::optional<Axis> stack);

/// The tunables of a grid of boxes: `local_size`, and `local_x`, `local_y`, `local_z`, the sides of a box.
std::vector<Tunable> box_tunables();

/// Of a dispatch whose shader and defines are set: the sizes of y, a grid of boxes of `tiles` (those of one
/// batch), strides of both tensors, and these as bindings. `invocations`: how many there are in all, by
/// default one a tile. Kernels declare their push constants in this order, their own behind.
void set_tiles(Dispatch& dispatch, const BuildContext& context, const TensorAt& x, const TensorAt& y,
               const Wishes& wishes, const Tiles& tiles, std::optional<std::int64_t> invocations = {});

/// Gives `dispatch` a grid of boxes, tuned or chosen for so many invocations in all, and appends the
/// `TileBoxes` of shaders/common/tile_boxes.glslh to its push constants.
void set_box_grid(Dispatch& dispatch, const BuildContext& context, const Wishes& wishes, const Tiles& tiles,
                  std::int64_t batches, std::int64_t invocations);

}  // namespace assay::ops
