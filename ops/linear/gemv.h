#pragma once

#include "harness/op/op.h"
#include "ops/linear/product.h"

#include <cstdint>
#include <string>

namespace assay::ops {

/// The impl for few rows (shaders/linear_gemv.comp): `workers` invocations share the K of some output
/// channels. `dot`: by the integer dot product where the device has it fast.
Impl gemv_linear(const LinearKind& kind);

/// The same with workgroups of 64, as 8 groups of 8 workers: ExecuTorch's shape of this kernel.
Impl coop_linear(std::string name, const LinearKind& kind, bool dot);

}  // namespace assay::ops
