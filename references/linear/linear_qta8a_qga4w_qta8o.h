#pragma once

#include "harness/op/expected.h"
#include "harness/op/params.h"
#include "harness/tensor/tensor.h"

#include <span>
#include <vector>

namespace assay::references {

/// f = act((sum over g of w_scale[g, n] * int_g) * x_scale[m] + bias[n]) with int_g as in qta8a_qga4w(), y =
/// clamp(roundEven(f * fl32(1 / y.scale)) + y.zero_point, -128, 127), in float64. Banded: the magnitude is
/// GroupedLinear's in steps of y, and 0 where float32 operations in this order, with the groups in any order,
/// round nothing. A NaN (of the bias) gives the zero point. `inputs`: as for qta8a_qga4w().
std::vector<Expected> linear_qta8a_qga4w_qta8o(const Params& params, std::span<const HostTensor> inputs);

}  // namespace assay::references
