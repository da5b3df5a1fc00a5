#include "ops/affine/affine.h"

namespace assay::ops {

Op quantize_affine() {
  return quantizing_op(
      {.name = "quantize_affine", .summary = "real to integer values, one scale and zero point per block"});
}

}  // namespace assay::ops
