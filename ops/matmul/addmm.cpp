#include "harness/op/op.h"
#include "ops/matmul/matmul.h"

namespace assay::ops {
namespace {

ParamSpec factor(std::string name, std::string of) {
  return number(std::move(name))
      .by_default(1.0)
      .says("factor of " + std::move(of) + ", rounded to float32: 0, or a magnitude from 1e-6 to 1e6");
}

}  // namespace

Op addmm() {
  return matmul_op("addmm", "product of two matrices, and a third: y = alpha * a * b + beta * c", {},
                   {factor("alpha", "the product"), factor("beta", "c, which is not read if it is 0"),
                    choice("c", {"matrix", "row"})
                        .by_default(std::string("matrix"))
                        .says("shape of the tensor c: [M, N], or [N], which is added to each row")});
}

}  // namespace assay::ops
