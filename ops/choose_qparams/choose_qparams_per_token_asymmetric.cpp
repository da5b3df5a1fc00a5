#include "ops/choose_qparams/choose.h"
#include "ops/common/block_axes.h"

namespace assay::ops {

Op choose_qparams_per_token_asymmetric() {
  Op op = choose_op(
      "choose_qparams_per_token_asymmetric",
      "int8 scale and zero point of each token; the end with the smaller error gives the zero point",
      {shape("shape", rank(1, 4)), real_param(), eps_param()}, references::choose_per_token);
  op.tokens = tokens_of_shape;
  return op;
}

}  // namespace assay::ops
