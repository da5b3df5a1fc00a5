#pragma once

#include "harness/op/op.h"

#include <cstdint>

namespace assay::ops {

/// A convolution as products of matrices: each of its `groups` is a product of rows x depth by depth x
/// outputs.
struct ProductShape {
  std::int64_t rows = 1;     ///< pixels of y
  std::int64_t outputs = 1;  ///< output channels of a group
  std::int64_t groups = 1;
  std::int64_t depth = 1;
};

/// The case's tunables and those with which coopmat kernels are fast for int8 products of this shape
/// (measured on an H200, shaders/NOTES.md), fitted to the device's matrices and limits. Where the case of
/// `point` tunes a size itself, only its own.
Tune with_fast_sizes(const ImplPoint& point, const ProductShape& shape, const DeviceInfo& device);

}  // namespace assay::ops
