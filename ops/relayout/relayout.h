#pragma once

#include "harness/op/op.h"
#include "harness/op/program.h"
#include "ops/common/requantize.h"
#include "ops/common/tensor_at.h"

#include <optional>
#include <string>

namespace assay::ops {

/// Moves x to y, of equal shape, int8x4, f32 and f16 in any form that can hold them: by tiles of 4 x 4
/// values, one quad or one texel (shaders/relayout.comp), halves between buffers by 8 x 8 where their sizes
/// allow it (shaders/relayout_halves.comp). Throws std::logic_error where relayout_excludes() gives a reason.
Dispatch relayout_dispatch(const BuildContext& context, std::string label, const TensorAt& x,
                           const TensorAt& y, const Conversion& conversion = {});

/// The same between int8x4 layouts, each value rectified and requantized on the way, as q8ta_relu says.
Dispatch rectifying_dispatch(const BuildContext& context, std::string label, const TensorAt& x,
                             const TensorAt& y, const Requantization& requantization);

/// Why these kernels cannot move x to y, or nothing.
std::optional<std::string> relayout_excludes(const Physical& x, const Physical& y);

}  // namespace assay::ops
