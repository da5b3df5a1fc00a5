#include "ops/affine/affine.h"

namespace assay::ops {

Op quantize_per_tensor() {
  return quantizing_op({.name = "quantize_per_tensor",
                        .summary = "real to integer values, one scale and zero point for all",
                        .granularity = references::Granularity::PerTensor});
}

}  // namespace assay::ops
