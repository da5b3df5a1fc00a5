#pragma once

#include "harness/op/op.h"
#include "ops/linear/product.h"

#include <vector>

namespace assay::ops {

/// The impls of a linear op: `tiled`, `dot4x8` where x is multiplied as int8, `gemv`, and `auto`.
std::vector<Impl> linear_impls(const LinearKind& kind);

/// The impls of the ops of ExecuTorch's kernels: `tiled` and `coop`, each with and without the integer dot
/// product, and `auto`.
std::vector<Impl> coop_impls(const LinearKind& kind);

}  // namespace assay::ops
