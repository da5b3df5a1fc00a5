#include "ops/affine/affine.h"

namespace assay::ops {

Op dequantize_per_channel() {
  return dequantizing_op(
      {.name = "dequantize_per_channel",
       .summary = "integer to real values, one scale and zero point for each index along `axis`",
       .granularity = references::Granularity::PerChannel});
}

}  // namespace assay::ops
