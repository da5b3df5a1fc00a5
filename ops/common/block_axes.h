#pragma once

#include "harness/op/params.h"
#include "harness/tensor/form.h"
#include "references/affine/affine.h"

#include <array>
#include <cstdint>
#include <vector>

namespace assay::ops {

/// The number of tokens of an activation whose shape is the parameter `shape`: its lines along the last dim.
std::int64_t tokens_of_shape(const Params& params);

/// One axis of a tensor's memory order, after dims that need not be distinguished were merged.
struct BlockAxis {
  std::int64_t size = 1;    ///< elements along the axis
  std::int64_t block = 1;   ///< elements of a block along the axis
  std::int64_t stride = 0;  ///< from one block to the next, in row-major block ids
  friend bool operator==(const BlockAxis&, const BlockAxis&) = default;
};

/// The fewest axes, fastest first, from which a kernel can compute the block of the element at a place in
/// memory: none for per tensor, one for per token or per group in WP. `layout` is WP, HP or CP.
std::vector<BlockAxis> block_axes(const references::BlockGrid& grid, Layout layout);

/// N, C, H, W as axes, unmerged; a dim that is one block has stride 0.
std::array<BlockAxis, 4> axes_by_dim(const references::BlockGrid& grid);

/// Whether every four elements that begin at a multiple of 4 in memory lie in one block.
bool quads_in_one_block(const std::vector<BlockAxis>& axes);

}  // namespace assay::ops
