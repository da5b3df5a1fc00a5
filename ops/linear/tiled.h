#pragma once

#include "harness/op/op.h"
#include "ops/linear/product.h"

#include <string>

namespace assay::ops {

/// The program of tiled_linear() for a convolution in the context of its linear op
/// (ops/convolution/product.h): of int8 values, or of real ones whose x already consists of rows.
Program tiled_convolution(const BuildContext& context, const LinearKind& kind, const Images& images,
                          bool dot);
/// What the device is missing for that program, or nothing.
std::optional<std::string> tiled_convolution_unsupported_reason(const BuildContext& context,
                                                                const LinearKind& kind);

/// The impl whose workgroups compute tiles of y from slabs of x and w in shared memory
/// (shaders/linear/linear_tiled.comp). `dot`: it uses the integer dot product.
Impl tiled_linear(std::string name, const LinearKind& kind, bool dot);

}  // namespace assay::ops
