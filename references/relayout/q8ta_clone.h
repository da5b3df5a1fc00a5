#pragma once

#include "harness/op/expected.h"
#include "harness/op/params.h"
#include "harness/tensor/tensor.h"

#include <span>
#include <vector>

namespace assay::references {

/// y = x: a clone changes where values lie, never their values. Exact. `inputs`: x.
std::vector<Expected> q8ta_clone(const Params& params, std::span<const HostTensor> inputs);

}  // namespace assay::references
