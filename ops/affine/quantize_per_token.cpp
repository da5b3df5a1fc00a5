#include "ops/affine/affine_op.h"

namespace assay::ops {

Op quantize_per_token() {
  return quantizing_op(
      {.name = "quantize_per_token",
       .summary = "real to integer values, one scale and zero point a line along the last dim",
       .granularity = references::Granularity::PerToken});
}

}  // namespace assay::ops
