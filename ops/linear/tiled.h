#pragma once

#include "harness/op/op.h"
#include "ops/linear/product.h"

#include <string>

namespace assay::ops {

/// The program of such an impl, where x is of int8 values and `gathering` tells how x and y are images: for
/// the context of the linear op that the convolution is (ops/convolution/product.h).
Program tiled_convolution(const BuildContext& context, const Gathering& gathering, bool dot);
/// What it lacks on the device, or nothing.
std::optional<std::string> tiled_convolution_lacks(const BuildContext& context);
std::vector<Tunable> tiled_convolution_tunables();

/// The impl whose workgroups compute tiles of y from slabs of x and w in shared memory
/// (shaders/linear_tiled.comp). `dot`: by the integer dot product.
Impl tiled_linear(std::string name, const LinearKind& kind, bool dot);

}  // namespace assay::ops
