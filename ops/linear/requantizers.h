#pragma once

#include "harness/op/op.h"
#include "harness/op/program.h"
#include "references/linear.h"

namespace assay::ops {

/// Appends the setup dispatch that makes, from w_scale [N] and bias [N] (if the op has it) and the scales of
/// x and y, the integers of `epilogue: fixed_point`: i32 scratch of shape [3, 4 * ceil(N / 4)], multipliers,
/// shifts, biases. With x_scale * w_scale[n] / y_scale = m * 2^e, m in [0.5, 1), all in float64, they are
/// llrint(m * 2^31), 31 - e, and llrint(bias[n] / (x_scale * w_scale[n])) clamped to int32. What is past N is
/// 0 (shift 1).
///
/// The shader has 32-bit integers alone and gives the same, bit for bit. A bias that is a NaN gives 0, an
/// infinite one the end of int32. For scales that the formula refuses the shift is the nearest end of 1..62:
/// nothing is undefined, and nothing is right (see check_fixed_point()).
Resource requantizers(Program& program, const BuildContext& context);

/// Throws ParameterError("y", ...) where x_scale * w_scale / y_scale has no fixed point, a shift outside
/// 1..62, for some w_scale that a fill of the op's w_scale gives.
///
/// What it cannot know, since a case is loaded before there are data: w_scale from a file or of `fill:
/// constant`, which may lie anywhere, and biases so large that sum + bias leaves int32. The reference sees
/// the data, refuses both with the channel's number, and is computed before any program runs on them.
void check_fixed_point(const Params& params);

}  // namespace assay::ops
