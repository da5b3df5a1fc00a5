#pragma once

#include "harness/tensor/form.h"
#include "references/affine.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace assay::ops {

/// One axis of a tensor's memory, cut into boxes.
struct BoxAxis {
  std::int64_t size = 1;     ///< elements
  std::int64_t block = 1;    ///< elements of a box; the last one may be shorter
  std::int64_t stride = 0;   ///< from one box to the next, in row-major block ids
  std::int64_t count = 1;    ///< boxes
  std::int64_t vectors = 1;  ///< of a box: quads or texels along the packed axis, else elements
};

/// How shaders/choose_qparams.comp reads the blocks of a tensor: a box is a block, or, where blocks are one
/// or two elements long along the packed axis, those of four neighbours.
struct Boxes {
  std::array<BoxAxis, 4> axes;  ///< in memory order, fastest first
  std::size_t packed = 0;       ///< the axis whose elements lie four in a quad or texel
  bool lanes_apart = false;     ///< a box is several blocks
  std::int64_t lane_block = 1;  ///< lanes_apart: elements of a block along the packed axis
  bool whole = false;           ///< every box is made of whole vectors, and none sticks out

  std::int64_t count() const;
  std::int64_t rows() const;     ///< of a box: vectors along axes 1, 2 and 3
  std::int64_t vectors() const;  ///< of a box
  /// The axes along which the rows of a box lie: 1 up to this one, 0 for none.
  std::int64_t row_axes() const;
};

/// `may_join`: boxes of several blocks are wanted where they save reads. `physical` has a float layout.
Boxes boxes_of(const references::BlockGrid& grid, const Physical& physical, bool may_join);

/// The invocations of a workgroup, each number a power of two, and what they do.
struct WorkgroupTiling {
  std::int64_t columns = 1;  ///< along axis 0 of a box
  std::int64_t boxes = 1;    ///< boxes at a time
  std::int64_t rows = 1;     ///< along the rows of a box
  std::int64_t each = 0;     ///< boxes of one row: vectors of an invocation, all read at once; 0: it reads on
  std::int64_t splits = 1;   ///< workgroups that share a box; 1 where it is read at once

  std::int64_t invocations() const { return columns * boxes * rows; }
};

/// A tiling of at most `invocations` (a power of two): neighbours read neighbouring vectors as far as the
/// boxes let them; large boxes are split until the device is full. Boxes of one row are read at once, as far
/// as `most` vectors an invocation go; those of up to 128 vectors with `small_each` of them each, 1 to
/// `most`.
WorkgroupTiling tiling_of(const Boxes& boxes, std::int64_t invocations, std::int64_t small_each,
                          std::int64_t most);

}  // namespace assay::ops
