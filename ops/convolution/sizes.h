#pragma once

#include "harness/op/op.h"

#include <cstdint>

namespace assay::ops {

/// A convolution as products of matrices: of each of `groups` rows x depth by depth x outputs.
struct ProductShape {
  std::int64_t rows = 1;     ///< pixels of y
  std::int64_t outputs = 1;  ///< output channels of a group
  std::int64_t groups = 1;
  std::int64_t depth = 1;
};

/// The tunables of coopmat kernels that are fast for int8 products of this shape (measured on a H200,
/// shaders/NOTES.md), but for what the case of `point` tunes: where it tunes a size, no size is given.
Tune with_fast_sizes(const ImplPoint& point, const ProductShape& shape);

}  // namespace assay::ops
