#include "ops/affine/affine.h"
#include "ops/common/block_axes.h"

namespace assay::ops {

Op quantize_per_token() {
  Op op = quantizing_op(
      {.name = "quantize_per_token",
       .summary = "real to integer values, one scale and zero point per line along the last dim",
       .granularity = references::Granularity::PerToken});
  op.tokens = tokens_of_shape;
  return op;
}

}  // namespace assay::ops
