#pragma once

#include "harness/op/expected.h"
#include "harness/op/params.h"
#include "harness/tensor/tensor.h"

#include <span>
#include <vector>

namespace assay::references {

/// y = a + b, element by element, rounded once to the type of y. Inputs: a, b; both and y have the parameters
/// `shape` and `dtype`. The bound is what devices may flush to zero (f32), or an ULP of the store (f16).
std::vector<Expected> add(const Params& params, std::span<const HostTensor> inputs);

}  // namespace assay::references
