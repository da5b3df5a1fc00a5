#pragma once

#include "harness/op/params.h"

#include <cstdint>

namespace assay::ops {

/// The number of tokens of an activation whose shape is the parameter `shape`: its lines along the last dim.
std::int64_t tokens_of_shape(const Params& params);

}  // namespace assay::ops
