#pragma once

#include "harness/op/op.h"
#include "references/granularity.h"

#include <optional>
#include <string>

namespace assay::ops {

/// What tells one op over the affine kernels from another.
struct AffineOp {
  std::string name;
  std::string summary;
  /// Which block size the name of the op stands for. None: cases say `block_size` and `zero_point_domain`.
  std::optional<references::Granularity> granularity{};
};

/// An op from x (real), scale and zero_point to q (integers): shaders/quantize_affine.comp.
Op quantizing_op(AffineOp op);

/// An op from q (integers), scale and zero_point to y (real): shaders/dequantize_affine.comp.
Op dequantizing_op(AffineOp op);

}  // namespace assay::ops
