#pragma once

#include "harness/op/op.h"
#include "references/common/granularity.h"

#include <optional>
#include <string>

namespace assay::ops {

/// What distinguishes one op over the affine kernels from another.
struct AffineOp {
  std::string name;
  std::string summary;
  /// The block size that the op's name stands for. None: cases give `block_size` and `zero_point_domain`.
  std::optional<references::Granularity> granularity{};
};

/// An op that computes q (integers) from x (real), scale and zero_point: shaders/affine/quantize_affine.comp.
Op quantizing_op(AffineOp op);

/// An op that computes y (real) from q (integers), scale and zero_point:
/// shaders/affine/dequantize_affine.comp.
Op dequantizing_op(AffineOp op);

}  // namespace assay::ops
