#pragma once

#include "harness/op/op.h"
#include "harness/op/program.h"
#include "ops/common/requantize.h"
#include "ops/common/tensor_at.h"

#include <optional>
#include <string>

namespace assay::ops {

/// Moves x to y of equal shape: int8x4, f32 and f16 in any form that can hold them. It works by tiles of 4 x
/// 4 values, one quad or one texel (shaders/relayout/relayout.comp), or for halves between buffers by 8 x 8
/// values where their sizes allow it (shaders/relayout/relayout_halves.comp). Throws std::logic_error where
/// relayout_invalid_reason() gives a reason.
Dispatch relayout_dispatch(const BuildContext& context, std::string label, const TensorAt& x,
                           const TensorAt& y, const Conversion& conversion = {});

/// Moves x to y between int8x4 layouts and rectifies and requantizes each value on the way, as q8ta_relu
/// defines it.
Dispatch rectifying_dispatch(const BuildContext& context, std::string label, const TensorAt& x,
                             const TensorAt& y, const Requantization& requantization);

/// Why these kernels cannot move x to y, or nothing.
std::optional<std::string> relayout_invalid_reason(const Physical& x, const Physical& y);

}  // namespace assay::ops
