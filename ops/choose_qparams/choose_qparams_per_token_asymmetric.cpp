#include "ops/choose_qparams/choose.h"

namespace assay::ops {

Op choose_qparams_per_token_asymmetric() {
  return choose_op(
      "choose_qparams_per_token_asymmetric",
      "int8 scale and zero point of each token; the end with the smaller error gives the zero point",
      {shape("shape", rank(1, 4)), real_param(), eps_param()}, references::choose_per_token);
}

}  // namespace assay::ops
