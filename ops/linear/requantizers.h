#pragma once

#include "harness/op/op.h"
#include "harness/op/program.h"
#include "references/linear/linear.h"

namespace assay::ops {

/// Appends the setup dispatch that computes the integers of `epilogue: fixed_point` from w_scale [N], bias
/// [N] (if the op has it) and the scales of x and y: i32 scratch of shape [3, 4 * ceil(N / 4)], with
/// multipliers, shifts and biases. With x_scale * w_scale[n] / y_scale = m * 2^e, m in [0.5, 1), all in
/// float64, they are llrint(m * 2^31), 31 - e, and llrint(bias[n] / (x_scale * w_scale[n])) clamped to int32.
/// Entries past N are 0 (shift 1).
///
/// The shader has only 32-bit integers and gives the same results, bit for bit. A bias that is NaN gives 0,
/// an infinite one the nearest end of int32. For scales that the formula refuses, the shift is the nearest
/// end of 1..62: the result is defined but not right (see check_fixed_point()).
Resource requantizers(Program& program, const BuildContext& context);

/// Throws ParameterError("y", ...) where x_scale * w_scale / y_scale has no fixed point, that is needs a
/// shift outside 1..62, for some w_scale that a fill of the op's w_scale gives.
///
/// A case is loaded before there are data, so two errors cannot be found here: a w_scale from a file or of
/// `fill: constant`, which may have any value, and biases so large that sum + bias leaves int32. The
/// reference sees the data and refuses both with the channel's number; it is computed before any program runs
/// on them.
void check_fixed_point(const Params& params);

}  // namespace assay::ops
