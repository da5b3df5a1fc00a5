#include "ops/common/block_axes.h"

#include "harness/tensor/tensor.h"

#include <algorithm>
#include <stdexcept>

namespace assay::ops {
namespace {

/// The dims in memory order, fastest first, as indices into N, C, H, W.
std::array<std::size_t, 4> memory_order(Layout layout) {
  const LayoutInfo& info = info_of(layout);
  if (info.is_int8x4())
    throw std::logic_error("block_axes: " + std::string(info.name) + " is not a float layout");
  std::array<std::size_t, 4> order{};
  std::ranges::transform(info.buffer_order.rbegin(), info.buffer_order.rend(), order.begin(),
                         LayoutInfo::dim_of);
  return order;
}

/// Makes `fast` the product of both axes, if blocks can still be computed from it.
bool merge(BlockAxis& fast, const BlockAxis& slow) {
  if (fast.stride == 0) {  // one block along it: blocks change only with the slower axis
    fast = {fast.size * slow.size, fast.size * slow.block, slow.stride};
    return true;
  }
  const bool continues =
      slow.block == 1 && fast.size % fast.block == 0 && slow.stride == fast.stride * (fast.size / fast.block);
  if (continues) fast.size *= slow.size;
  return continues;
}

}  // namespace

std::int64_t tokens_of_shape(const Params& params) {
  Shape rows = params.ints("shape");
  rows.pop_back();
  return numel(rows);
}

std::array<BlockAxis, 4> axes_by_dim(const references::BlockGrid& grid) {
  std::array<BlockAxis, 4> axes;
  std::int64_t stride = 1;
  std::size_t place = 4;
  for (std::size_t dim = grid.shape.size(); dim-- > 0;) {
    axes[--place] = {grid.shape[dim], grid.block[dim], grid.counts[dim] == 1 ? 0 : stride};
    stride *= grid.counts[dim];
  }
  return axes;
}

std::vector<BlockAxis> block_axes(const references::BlockGrid& grid, Layout layout) {
  const std::array<BlockAxis, 4> by_dim = axes_by_dim(grid);
  std::vector<BlockAxis> axes;
  for (const std::size_t dim : memory_order(layout)) {
    if (by_dim[dim].size == 1) continue;
    if (axes.empty() || !merge(axes.back(), by_dim[dim])) axes.push_back(by_dim[dim]);
  }
  if (axes.size() == 1 && axes[0].stride == 0) axes.clear();
  return axes;
}

bool quads_in_one_block(const std::vector<BlockAxis>& axes) {
  if (axes.empty()) return true;
  return axes[0].block % 4 == 0 && (axes.size() == 1 || axes[0].size % 4 == 0);
}

}  // namespace assay::ops
