#pragma once

#include "harness/op/op.h"
#include "harness/op/program.h"
#include "references/linear/linear.h"

namespace assay::ops {

/// The result of quantize_rows(): int8 values in buffer/4W of x's shape, and one scale (f32) and one zero
/// point (i32) per row.
struct QuantizedRows {
  Resource values, scale, zero_point;
};

/// Appends to `program` the scratch and the dispatch that quantize each row of the op's tensor `x` (f32 or
/// f16, WP, a buffer or texture3d). Its parameters are chosen from its values (QParamsRule::PerRow over
/// -128..127), or read from the op's tensors x_scale and x_zero_point where it has them (activations: given).
/// All results are buffers.
QuantizedRows quantize_rows(Program& program, const BuildContext& context, const references::Linear& linear);

}  // namespace assay::ops
