#pragma once

#include "harness/op/op.h"
#include "ops/common/tensor_at.h"
#include "ops/convolution/positions.h"
#include "references/convolution/convolution.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay::ops {

// Parameters and tensors that convolutions share.

/// What a kind of convolution fixes instead of leaving it to the case.
enum class ConvolutionKind : std::uint8_t {
  Any,         ///< every parameter is free
  Pointwise,   ///< kernel and stride 1x1, no padding, one group
  Depthwise,   ///< groups and OC are C
  Transposed,  ///< has output_padding
};
/// The parameters N, C, H, W, OC, kernel, stride, padding, dilation and groups, then `own`, then bias and
/// activation.
std::vector<ParamSpec> convolution_params(ConvolutionKind kind, std::vector<ParamSpec> own);

/// The checked parameters. Throws ParameterError, also where they are not of this kind.
references::Convolution convolution_of(const Params& params, ConvolutionKind kind,
                                       std::int64_t largest_depth);

/// The parameter y, whose default scale follows from x's as for linear ops.
ParamSpec convolution_y_qparams_param();

/// The forms of int8 activations whose words hold four channels. `first`: the default.
std::vector<Form> channel_word_forms(Layout first);

/// The tensor x or y of real values, channels-packed.
TensorSpec real_images(std::string_view name, const references::Convolution& conv);
TensorSpec int8_images(std::string_view name, const references::Convolution& conv, std::vector<Form> forms);

/// The tensors of every convolution: x, w, w_scale, bias where the op has it, y.
std::vector<TensorSpec> convolution_tensors(const references::Convolution& conv, TensorSpec x, TensorSpec y);

/// Counts each tensor's bytes once, of x those that some tap meets, and the operations of all taps except
/// those that lie in the padding.
Work convolution_work(const Params& params, std::span<const TensorSpec> tensors);

/// Why kernels that count elements and coordinates with signed 32-bit integers cannot take this point, or
/// nothing.
std::optional<std::string> convolution_invalid_reason(const ImplPoint& point);

/// A convolution of int8 x and y with one scale each, and int8 weights with one scale per output channel.
Op integer_convolution(std::string name, std::string summary, ConvolutionKind kind, Layout default_layout,
                       std::vector<Impl> impls);

}  // namespace assay::ops
