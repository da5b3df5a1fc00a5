#pragma once

#include "ops/common/tensor_at.h"
#include "references/qparams.h"

#include <optional>

namespace assay::ops {

/// One dispatch of shaders/quantize_dynamic.comp: each row of x (along its last dim) becomes integers, by one
/// scale (f32) and one zero point (i32) a row.
struct RowQuantization {
  TensorAt x;  ///< f32 or f16, WP
  TensorAt q;  ///< x's shape and form; where x is a texture, or its width a multiple of 4, also buffer/4W
  Resource scale, zero_point;
  /// By which scale and zero point are chosen and written. Nothing: they are given, and read.
  std::optional<references::QParamsRule> rule;
  references::QParamsLimits limits;

  std::int64_t columns = 0;  ///< invocations of a row; 0: chosen from its length
  std::optional<bool>
      once;  ///< one invocation of a row computes its parameters; nothing: where rows are many
  bool bakes_sizes = false;  ///< sizes and limits are built into the program (ops/common/bake.h)
};

Dispatch row_quantization(const RowQuantization& rows, const DeviceInfo& device);

}  // namespace assay::ops
