#include "ops/affine/affine.h"

namespace assay::ops {

Op quantize_per_channel() {
  return quantizing_op(
      {.name = "quantize_per_channel",
       .summary = "real to integer values, one scale and zero point for each index along `axis`",
       .granularity = references::Granularity::PerChannel});
}

}  // namespace assay::ops
