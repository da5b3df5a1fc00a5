#include "ops/choose_qparams/choose.h"

namespace assay::ops {

Op choose_qparams_affine() {
  return choose_op(
      "choose_qparams_affine", "scale and zero point of each block from its smallest and largest value",
      with_quant_params(
          {shape("shape", rank(1, 4)),
           ints("block_size", rank(1, 4)).says("elements of a block along each dim; -1 is the whole dim"),
           real_param(), mapping_param()},
          {eps_param()}),
      references::choose_affine);
}

}  // namespace assay::ops
