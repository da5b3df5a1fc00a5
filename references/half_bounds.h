#pragma once

#include "harness/tensor/dtype.h"

#include <span>
#include <vector>

namespace assay::references {

/// One unit in the last place of a float16, 2^-24 for denormals; 0 for infinities and NaN. Devices may round
/// float16 stores either to nearest or towards zero.
float ulp_of(Half value);

/// The ulp_of() of each value: the bound of a float16 output whose float32 value is exact.
std::vector<float> ulp_bounds(std::span<const Half> values);

}  // namespace assay::references
