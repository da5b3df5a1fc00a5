#pragma once

#include "harness/op/params.h"

#include <cstdint>

namespace assay::ops {

/// Lines along the last dim of an activation whose shape is the parameter `shape`: a token each.
std::int64_t tokens_of_shape(const Params& params);

}  // namespace assay::ops
