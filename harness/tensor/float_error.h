#pragma once

#include "harness/tensor/dtype.h"

namespace assay {

/// Returns |got - expected| of one element, or infinity if exactly one of them is NaN or infinite.
double absolute_error(double expected, double got);

/// Returns one unit in the last place of a float dtype at `value`: the smallest denormal for denormals, 0 for
/// infinities, NaN and integer dtypes.
double unit_in_last_place(DType dtype, double value);

}  // namespace assay
