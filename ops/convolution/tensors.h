#pragma once

#include "harness/op/op.h"
#include "ops/common/tensor_at.h"
#include "references/convolution.h"

#include <span>
#include <string_view>
#include <vector>

// Parameters and tensors that convolutions share.

namespace assay::ops {

/// N, C, H, W, OC, kernel, stride, padding, dilation and groups; then `own`; then bias and activation.
/// What a convolution does not choose is fixed by the op: see `ConvolutionKind`.
enum class ConvolutionKind : std::uint8_t {
  Any,         ///< every parameter is free
  Pointwise,   ///< kernel and stride 1x1, no padding, one group
  Depthwise,   ///< groups and OC are C
  Transposed,  ///< has output_padding
};
std::vector<ParamSpec> convolution_params(ConvolutionKind kind, std::vector<ParamSpec> own);

/// The checked parameters; throws ParameterError, also where they are not of the kind.
references::Convolution convolution_of(const Params& params, ConvolutionKind kind,
                                       std::int64_t largest_depth);

/// y's scale from x's, as for linear ops.
ParamSpec convolution_y_qparams_param();

/// Forms of int8 activations: words of four channels. `first`: the default.
std::vector<Form> channel_word_forms(Layout first);

TensorSpec real_images(std::string_view name,
                       const references::Convolution& conv);  ///< x or y, channels-packed
TensorSpec int8_images(std::string_view name, const references::Convolution& conv, std::vector<Form> forms);

/// x, w, w_scale, bias where the op has it, y: the tensors of every convolution.
std::vector<TensorSpec> convolution_tensors(const references::Convolution& conv, TensorSpec x, TensorSpec y);

/// Operations: taps that lie in the padding are none.
Work convolution_work(const Params& params, std::span<const TensorSpec> tensors);

}  // namespace assay::ops
