#pragma once

#include "harness/op/op.h"

#include <string>
#include <vector>

// Impls of convolutions of int8 values, or of real ones that are quantized first.

namespace assay::ops {

/// An impl whose invocations each compute their own pixels and output channels
/// (shaders/convolution/conv_direct.comp).
Impl direct_convolution(std::string name);
/// An impl like direct_convolution() whose invocations compute four pixels side by side by `columns` output
/// channels, 4 or 8.
Impl tile_n4_convolution(std::string name, std::int64_t columns);

/// An impl of two dispatches: the first writes the values of x that each pixel of y sums as a row, the second
/// multiplies these rows by the weights.
Impl im2col_convolution();

/// An impl of one dispatch, whose workgroups gather those rows into shared memory and multiply matrices.
Impl implicit_convolution(std::string name);

/// The impls im2col and direct for real values by int8 weights; im2col takes one group only.
Impl real_im2col_convolution();
Impl real_direct_convolution();
/// An impl for f16 of one dispatch, whose workgroups gather those rows into shared memory and multiply
/// matrices of half floats; one group only, and channels of x in eights.
Impl real_implicit_convolution();
/// Whether it is faster on the device than im2col, whose product may split K among workgroups.
bool is_implicit_fast(const BuildContext& context);

/// A pointwise convolution computed by an impl of q8ta_linear; it has that impl's name and tunables.
Impl pointwise_convolution(const Impl& linear);

/// Impl `auto`. It chooses `matrices` where the device has cooperative matrices, else `dot` where its integer
/// dot product is fast (empty: there is no such impl), else `otherwise`.
Impl chosen_convolution(const std::string& matrices, const std::string& dot, const std::string& otherwise);

}  // namespace assay::ops
