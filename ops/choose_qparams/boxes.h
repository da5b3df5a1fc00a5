#pragma once

#include "harness/tensor/form.h"
#include "references/affine/affine.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace assay::ops {

/// One axis of a tensor's memory, cut into boxes.
struct BoxAxis {
  std::int64_t size = 1;     ///< elements
  std::int64_t block = 1;    ///< elements of a box; the last box may be shorter
  std::int64_t stride = 0;   ///< from one box to the next, in row-major block ids
  std::int64_t count = 1;    ///< boxes
  std::int64_t vectors = 1;  ///< vectors of a box: quads or texels along the packed axis, else elements
};

/// How shaders/choose_qparams/choose_qparams.comp reads the blocks of a tensor. A box is one block; where
/// blocks are one or two elements long along the packed axis, it is four neighbouring blocks.
struct Boxes {
  std::array<BoxAxis, 4> axes;  ///< in memory order, fastest first
  std::size_t packed = 0;       ///< the axis along which four elements form a quad or texel
  bool lanes_apart = false;     ///< a box holds several blocks, one per lane
  std::int64_t lane_block = 1;  ///< where lanes_apart: elements of a block along the packed axis
  bool whole = false;           ///< every box consists of whole vectors and lies inside the tensor

  std::int64_t count() const;
  std::int64_t rows() const;     ///< lines of a box: its vectors along axes 1, 2 and 3
  std::int64_t vectors() const;  ///< vectors of a box
  /// The last axis along which the rows of a box lie: they lie along axes 1 to this one. 0: a box is one row.
  std::int64_t row_axes() const;
};

/// The boxes of a grid of blocks in memory. `may_join`: a box may hold several blocks where that saves reads.
/// `physical` has a float layout.
Boxes boxes_of(const references::BlockGrid& grid, const Physical& physical, bool may_join);

/// How the invocations of a workgroup are arranged, and what each reads. Every count is a power of two.
struct WorkgroupTiling {
  std::int64_t columns = 1;  ///< invocations along axis 0 of a box
  std::int64_t boxes = 1;    ///< boxes that a workgroup reads at a time
  std::int64_t rows = 1;     ///< invocations along the rows of a box
  std::int64_t each = 0;     ///< boxes of one row: vectors per invocation, all loaded at once; 0: it loops
  std::int64_t splits = 1;   ///< workgroups that share a box; 1 where `each` is not 0

  std::int64_t invocations() const { return columns * boxes * rows; }
};

/// A tiling with at most `invocations` (a power of two). Neighbouring invocations read neighbouring vectors
/// as far as the boxes allow, and large boxes are split until the device is full. Boxes of one row are loaded
/// at once where `most` vectors per invocation suffice; boxes of up to 128 vectors with `small_each` vectors
/// per invocation, 1 to `most`.
WorkgroupTiling tiling_of(const Boxes& boxes, std::int64_t invocations, std::int64_t small_each,
                          std::int64_t most);

}  // namespace assay::ops
