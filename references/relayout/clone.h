#pragma once

#include "harness/op/expected.h"
#include "harness/op/params.h"
#include "harness/tensor/tensor.h"

#include <span>
#include <vector>

namespace assay::references {

/// y = x, f32 or f16: a clone changes where values lie, never their values. Exact. `inputs`: x.
std::vector<Expected> clone(const Params& params, std::span<const HostTensor> inputs);

}  // namespace assay::references
