#pragma once

#include "harness/op/op.h"
#include "ops/linear/product.h"

#include <string>

namespace assay::ops {

/// The program of such an impl for a convolution, in the context of the linear op that it is
/// (ops/convolution/product.h): of int8 values, or of real ones whose x is rows already.
Program tiled_convolution(const BuildContext& context, const LinearKind& kind, const Images& images,
                          bool dot);
/// What it lacks on the device, or nothing.
std::optional<std::string> tiled_convolution_lacks(const BuildContext& context, const LinearKind& kind);

/// The impl whose workgroups compute tiles of y from slabs of x and w in shared memory
/// (shaders/linear_tiled.comp). `dot`: by the integer dot product.
Impl tiled_linear(std::string name, const LinearKind& kind, bool dot);

}  // namespace assay::ops
