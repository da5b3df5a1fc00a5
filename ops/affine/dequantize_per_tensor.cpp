#include "ops/affine/affine.h"

namespace assay::ops {

Op dequantize_per_tensor() {
  return dequantizing_op({.name = "dequantize_per_tensor",
                          .summary = "integer to real values, one scale and zero point for all",
                          .granularity = references::Granularity::PerTensor});
}

}  // namespace assay::ops
