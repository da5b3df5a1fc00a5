#include "ops/affine/affine.h"

namespace assay::ops {

Op dequantize_affine() {
  return dequantizing_op(
      {.name = "dequantize_affine", .summary = "integer to real values, one scale and zero point per block"});
}

}  // namespace assay::ops
