#include "ops/affine/affine_op.h"

namespace assay::ops {

Op dequantize_per_token() {
  return dequantizing_op(
      {.name = "dequantize_per_token",
       .summary = "integer to real values, one scale and zero point a line along the last dim",
       .granularity = references::Granularity::PerToken});
}

}  // namespace assay::ops
