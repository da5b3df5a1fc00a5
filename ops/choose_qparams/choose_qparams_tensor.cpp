#include "ops/choose_qparams/choose.h"

namespace assay::ops {

Op choose_qparams_tensor() {
  return choose_op("choose_qparams_tensor", "asymmetric scale and zero point of a whole tensor",
                   with_quant_params({shape("shape", rank(1, 4)), real_param()}, {eps_param()}),
                   references::choose_tensor);
}

}  // namespace assay::ops
