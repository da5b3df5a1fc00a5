#pragma once

#include "harness/op/op.h"
#include "ops/linear/product.h"

#include <string>

namespace assay::ops {

/// The impl whose workgroups compute tiles of y from slabs of x and w in shared memory
/// (shaders/linear_tiled.comp). `dot`: by the integer dot product.
Impl tiled_linear(std::string name, const LinearKind& kind, bool dot);

}  // namespace assay::ops
