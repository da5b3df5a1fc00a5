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

/// The same two of real values by int8 weights; im2col takes one group.
Impl real_im2col_convolution();
Impl real_direct_convolution();

/// A pointwise convolution by an impl of q8ta_linear, whose name and tunables it has.
Impl pointwise_convolution(const Impl& linear);

/// Impl `auto`: `matrices` where the device multiplies those, else `dot` where its integer dot product is
/// fast (empty: there is no such impl), else `otherwise`.
Impl chosen_convolution(const std::string& matrices, const std::string& dot, const std::string& otherwise);

}  // namespace assay::ops
