#include "harness/op/op.h"
#include "ops/matmul/matmul.h"

namespace assay::ops {

Op bmm() {
  return matmul_op("bmm", "products of the matrices of two batches: y[i] = a[i] * b[i]",
                   {integer("B").at_least(1).says("matrices of a, of b and of y")});
}

}  // namespace assay::ops
