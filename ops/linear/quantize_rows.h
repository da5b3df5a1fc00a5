#pragma once

#include "harness/op/op.h"
#include "harness/op/program.h"
#include "references/linear.h"

namespace assay::ops {

/// What quantize_rows leaves: int8 values, buffer/4W of x's shape; scale (f32) and zero point (i32), one a
/// row.
struct QuantizedRows {
  Resource values, scale, zero_point;
};

/// Appends to `program` the scratch and the dispatch that quantize each row of the op's tensor `x` (f32 or
/// f16, WP, a buffer or texture3d): by parameters chosen from its values (QParamsRule::PerRow over
/// -128..127), or by the op's tensors x_scale and x_zero_point where it has them (activations: given). All
/// are buffers.
QuantizedRows quantize_rows(Program& program, const BuildContext& context, const references::Linear& linear);

}  // namespace assay::ops
