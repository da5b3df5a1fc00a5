#include "ops/choose_qparams/boxes.h"

#include "ops/common/block_axes.h"
#include "ops/common/grid.h"
#include "ops/common/tensor_at.h"

#include <algorithm>

namespace assay::ops {
namespace {

constexpr std::int64_t quad = 4;
constexpr std::int64_t columns_side_by_side = 32;  // 512 bytes: what neighbouring boxes should read together
constexpr std::int64_t vectors_of_small_boxes =
    128;  // up to this many, several per invocation save exchanges
constexpr std::int64_t most_splits = 1024;
constexpr std::int64_t full_device = 1024;     // workgroups
constexpr std::int64_t least_steps_apart = 8;  // per invocation, where workgroups share a box

/// The axes as blocks divide them, fastest first.
std::array<BlockAxis, 4> cut_axes(const references::BlockGrid& grid, const Physical& physical) {
  std::array<BlockAxis, 4> cut;
  if (is_texture(physical.form())) {
    cut = axes_by_dim(grid);
    std::reverse(cut.begin(), cut.end());
    return cut;
  }
  const std::vector<BlockAxis> merged = block_axes(grid, physical.form().layout);
  if (merged.empty()) cut[0] = {numel(grid.shape), numel(grid.shape), 0};
  std::copy(merged.begin(), merged.end(), cut.begin());
  return cut;
}

/// Whether vectors along the packed axis begin at multiples of four of its elements.
bool rows_are_aligned(const std::array<BlockAxis, 4>& cut, const Physical& physical) {
  if (is_texture(physical.form()) || cut[0].size % quad == 0) return true;
  return cut[1].size * cut[2].size * cut[3].size == 1;
}

/// The most vectors that a box touches along the packed axis.
std::int64_t packed_vectors(const BoxAxis& axis, bool aligned) {
  if (aligned && (axis.block % quad == 0 || axis.count == 1)) return div_up(axis.block, quad);
  return (axis.block + 2 * (quad - 1)) / quad;
}

/// The tiling for boxes of one row, whose vectors are all loaded at once.
WorkgroupTiling tiling_of_rows(const Boxes& boxes, std::int64_t invocations, std::int64_t small_each) {
  const std::int64_t across = boxes.axes[0].vectors;
  const std::int64_t wanted = across <= vectors_of_small_boxes ? std::min(across, small_each) : 1;
  WorkgroupTiling tiling;
  tiling.columns = std::min(power_of_two_from(div_up(across, wanted)), invocations);
  tiling.each = div_up(across, tiling.columns);
  tiling.boxes = std::min(invocations / tiling.columns, power_of_two_from(boxes.count()));
  return tiling;
}

}  // namespace

std::int64_t Boxes::count() const {
  std::int64_t product = 1;
  for (const BoxAxis& axis : axes) product *= axis.count;
  return product;
}

std::int64_t Boxes::rows() const {
  return axes[1].vectors * axes[2].vectors * axes[3].vectors;
}

std::int64_t Boxes::vectors() const {
  return axes[0].vectors * rows();
}

Boxes boxes_of(const references::BlockGrid& grid, const Physical& physical, bool may_join) {
  const std::array<BlockAxis, 4> cut = cut_axes(grid, physical);
  const bool aligned = rows_are_aligned(cut, physical);
  Boxes boxes;
  boxes.packed =
      is_texture(physical.form()) ? static_cast<std::size_t>(packed_axis(physical.form().layout)) : 0;
  const BlockAxis& packed = cut[boxes.packed];
  boxes.lanes_apart = may_join && aligned && packed.block <= 2 && packed.size > packed.block;
  if (boxes.lanes_apart) boxes.lane_block = packed.block;
  boxes.whole = aligned;
  for (std::size_t i = 0; i < cut.size(); ++i) {
    BoxAxis& axis = boxes.axes[i];
    axis = {cut[i].size, cut[i].block, cut[i].stride, 0, cut[i].block};
    if (i == boxes.packed && boxes.lanes_apart) {
      axis.block = quad;
      axis.stride *= quad / boxes.lane_block;
    }
    axis.count = div_up(axis.size, axis.block);
    if (i == boxes.packed) axis.vectors = packed_vectors(axis, aligned);
    boxes.whole = boxes.whole && axis.size % axis.block == 0 && (i != boxes.packed || axis.block % quad == 0);
  }
  return boxes;
}

std::int64_t Boxes::row_axes() const {
  for (std::int64_t axis = 3; axis > 0; --axis) {
    if (axes[static_cast<std::size_t>(axis)].vectors > 1) return axis;
  }
  return 0;
}

WorkgroupTiling tiling_of(const Boxes& boxes, std::int64_t invocations, std::int64_t small_each,
                          std::int64_t most) {
  const std::int64_t across = boxes.axes[0].vectors;
  const std::int64_t rows = boxes.rows();
  if (rows == 1 && across <= invocations * most) return tiling_of_rows(boxes, invocations, small_each);
  WorkgroupTiling tiling;
  tiling.columns = std::min(power_of_two_from(across), invocations);
  if (rows > 1) {
    const std::int64_t neighbours =
        std::min({div_up(columns_side_by_side, tiling.columns), power_of_two_from(boxes.axes[0].count),
                  invocations / tiling.columns});
    tiling.rows = std::min(power_of_two_from(rows), invocations / (tiling.columns * neighbours));
  }
  tiling.boxes = std::min(invocations / (tiling.columns * tiling.rows), power_of_two_from(boxes.count()));

  const std::int64_t groups = div_up(boxes.count(), tiling.boxes);
  const std::int64_t steps = div_up(across, tiling.columns) * div_up(rows, tiling.rows);
  while (groups * tiling.splits < full_device && steps / (tiling.splits * 2) >= least_steps_apart &&
         tiling.splits < most_splits) {
    tiling.splits *= 2;
  }
  return tiling;
}

}  // namespace assay::ops
