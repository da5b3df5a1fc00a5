#pragma once

#include "harness/op/op.h"
#include "ops/linear/product.h"

#include <cstdint>
#include <string>
#include <vector>

namespace assay::ops {

/// The impl for few rows (shaders/linear/linear_gemv.comp): `workers` invocations share the K of a few output
/// channels. It uses the integer dot product where the device has a fast one.
Impl gemv_linear(const LinearKind& kind);

/// An impl of the same kernel with workgroups of 64, as 8 groups of 8 workers: the shape of ExecuTorch's
/// kernel. `dot`: it uses the integer dot product.
Impl coop_linear(std::string name, const LinearKind& kind, bool dot);

/// The impls of a linear op: `tiled`, `dot4x8` where x is multiplied as int8, `gemv`, and `auto`.
std::vector<Impl> linear_impls(const LinearKind& kind);

/// The impls of the ops of ExecuTorch's kernels: `tiled` and `coop`, each with and without the integer dot
/// product, and `auto`.
std::vector<Impl> coop_impls(const LinearKind& kind);

}  // namespace assay::ops
