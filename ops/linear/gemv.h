#pragma once

#include "harness/op/op.h"
#include "ops/linear/product.h"

#include <cstdint>
#include <string>

namespace assay::ops {

/// The impl for few rows (shaders/linear/linear_gemv.comp): `workers` invocations share the K of a few output
/// channels. It uses the integer dot product where the device has a fast one.
Impl gemv_linear(const LinearKind& kind);

/// An impl of the same kernel with workgroups of 64, as 8 groups of 8 workers: the shape of ExecuTorch's
/// kernel. `dot`: it uses the integer dot product.
Impl coop_linear(std::string name, const LinearKind& kind, bool dot);

}  // namespace assay::ops
