#include "ops/affine/affine.h"
#include "ops/common/block_axes.h"

namespace assay::ops {

Op dequantize_per_token() {
  Op op = dequantizing_op(
      {.name = "dequantize_per_token",
       .summary = "integer to real values, one scale and zero point per line along the last dim",
       .granularity = references::Granularity::PerToken});
  op.tokens = tokens_of_shape;
  return op;
}

}  // namespace assay::ops
