#pragma once

#include "ops/common/tensor_at.h"
#include "references/common/qparams.h"

#include <optional>

namespace assay::ops {

/// One dispatch of shaders/choose_qparams/quantize_dynamic.comp. It quantizes each row of x (along its last
/// dim) with one scale (f32) and one zero point (i32) per row.
struct RowQuantization {
  TensorAt x;  ///< f32 or f16, WP
  TensorAt q;  ///< in x's shape and form, or in buffer/4W where x is a texture or its width a multiple of 4
  Resource scale, zero_point;
  /// The rule by which the kernel chooses scale and zero point and writes them. Nothing: they are inputs.
  std::optional<references::QParamsRule> rule;
  references::QParamsLimits limits;

  std::int64_t columns = 0;  ///< invocations per row; 0: chosen from its length
  /// Whether one invocation per row computes its parameters. Nothing: it does where there are many rows.
  std::optional<bool> once;
  bool bakes_sizes = false;  ///< sizes and limits are built into the program (ops/common/shader_values.h)
};

Dispatch row_quantization(const RowQuantization& rows, const DeviceInfo& device);

}  // namespace assay::ops
