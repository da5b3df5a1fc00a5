#pragma once

#include "harness/op/expected.h"
#include "harness/op/params.h"
#include "harness/tensor/tensor.h"

#include <span>
#include <vector>

namespace assay::references {

/// y holds the values of x in row-major order, in the shape `new_shape`. Exact. `inputs`: x.
std::vector<Expected> view(const Params& params, std::span<const HostTensor> inputs);

}  // namespace assay::references
