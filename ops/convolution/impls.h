#pragma once

#include "harness/op/op.h"

#include <string>
#include <vector>

// Impls of convolutions of int8 values, or of real ones that are quantized first.

namespace assay::ops {

/// Every invocation computes pixels and output channels of its own (shaders/conv_direct.comp).
Impl direct_convolution(std::string name);
/// The same with so many output channels an invocation, 4 or 8, and four pixels side by side.
Impl tile_n4_convolution(std::string name, std::int64_t columns);

/// A dispatch writes what each pixel of y sums as rows, the next multiplies these by the weights.
Impl im2col_convolution();

/// One dispatch, whose workgroups gather those rows into shared memory and multiply matrices.
Impl implicit_convolution(std::string name);

/// By the shape and what the device is fast at, among impls of these names: `matrices` where it multiplies
/// matrices.
Impl chosen_convolution(std::string matrices, std::string otherwise);

}  // namespace assay::ops
