#include "harness/op/op.h"
#include "ops/matmul/matmul.h"

namespace assay::ops {

Op mm() {
  return matmul_op("mm", "product of two matrices: y = a * b");
}

}  // namespace assay::ops
