#pragma once

#include "harness/op/op.h"
#include "harness/op/program.h"
#include "ops/common/tensor_at.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay::ops {

/// Tiles of a workgroup along W, H and C.
using Box = std::array<std::uint32_t, 3>;
/// Tiles of a tensor's batch along W, H and C.
using Tiles = std::array<std::int64_t, 3>;

/// What lets accesses to both sides fill whole memory sectors: the number of tiles that a box should have
/// along each axis, for x and for y.
struct Wishes {
  Box x, y;
  /// Whether a box should be about as long along the axis that x asks for as along y's axis: where tiles are
  /// transposed, each side then reads or writes long rows. Otherwise the box grows along C.
  bool square = false;
  /// The box that was measured to be the fastest, used instead of the above; halved where the tensor is
  /// smaller.
  std::optional<Box> measured;
};

/// A box of about `invocations` tiles, a power of two along each axis, less than twice as long as the tensor
/// has tiles. Its first `subgroup` tiles are what both sides ask for, y first. Beyond that it becomes a
/// square or grows along C, then grows along H, then W. Invocations count along W, H, C: growth along C
/// leaves the first subgroup as it was.
Box choose_box(const Wishes& wishes, const Tiles& tiles, std::uint32_t subgroup, std::uint32_t invocations);

/// What a tensor of floats asks for: the quads that one access of a subgroup should span, for whole memory
/// sectors of 32 bytes. In buffers these quads lie along the packed axis. Textures keep patches of their x
/// and y together, whatever is packed: 4 x 2 texels. `stack`: a tile is four quads along this axis.
Box wish_of_floats(const Physical& physical, std::optional<Axis> stack);

/// The tunables of a grid of boxes: `local_size`, and `local_x`, `local_y`, `local_z`, the sides of a box.
std::vector<Tunable> box_tunables();

/// Sets the push constants, grid and bindings of a dispatch whose shader and defines are set: the sizes of y,
/// a grid of boxes of `tiles` (the tiles of one batch), the strides of both tensors, and the tensors as
/// bindings. `invocations`: their total, by default one per tile. Kernels declare these push constants in
/// this order and their own after them.
void set_tiles(Dispatch& dispatch, const BuildContext& context, const TensorAt& x, const TensorAt& y,
               const Wishes& wishes, const Tiles& tiles, std::optional<std::int64_t> invocations = {});

/// Gives `dispatch` a grid of boxes, tuned or chosen for `invocations` in total, and appends the `TileBoxes`
/// of shaders/common/tile_boxes.glslh to its push constants.
void set_box_grid(Dispatch& dispatch, const BuildContext& context, const Wishes& wishes, const Tiles& tiles,
                  std::int64_t batches, std::int64_t invocations);

/// Moves x to y of equal shape: int8x4, f32 and f16 in any form that can hold them. It works by tiles of 4 x
/// 4 values, one quad or one texel (shaders/relayout/relayout.comp), or for halves between buffers by 8 x 8
/// values where their sizes allow it (shaders/relayout/relayout_halves.comp). Throws std::logic_error where
/// relayout_invalid_reason() gives a reason.
Dispatch relayout_dispatch(const BuildContext& context, std::string label, const TensorAt& x,
                           const TensorAt& y, const Conversion& conversion = {});

/// Moves x to y between int8x4 layouts and rectifies and requantizes each value on the way, as q8ta_relu
/// defines it.
Dispatch rectifying_dispatch(const BuildContext& context, std::string label, const TensorAt& x,
                             const TensorAt& y, const Requantization& requantization);

/// Why these kernels cannot move x to y, or nothing.
std::optional<std::string> relayout_invalid_reason(const Physical& x, const Physical& y);

}  // namespace assay::ops
