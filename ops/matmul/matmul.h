#pragma once

#include "harness/op/op.h"
#include "references/matmul/matmul.h"

#include <string>
#include <vector>

// What mm, bmm and addmm share: they are one product, with or without a batch and a third matrix.

namespace assay::ops {

/// The op of this name, whose parameters are `before`, then M, K, N and dtype, then `after`.
Op matmul_op(std::string name, std::string summary, std::vector<ParamSpec> before = {},
             std::vector<ParamSpec> after = {});

/// The impl whose workgroups compute tiles of y from slabs of a and b in shared memory
/// (shaders/matmul/matmul_tiled.comp).
Impl tiled_matmul();

/// The impl whose subgroups multiply cooperative matrices of half floats
/// (shaders/matmul/matmul_coopmat.comp), or plain code where a device has none, as impl `coopmat` of the
/// linear ops does.
Impl coopmat_matmul();

}  // namespace assay::ops
