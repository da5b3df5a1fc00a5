#include "ops/choose_qparams/choose.h"
#include "ops/common/block_axes.h"

namespace assay::ops {

Op choose_qparams_per_row() {
  Op op =
      choose_op("choose_qparams_per_row", "scale and zero point of each row, by the rules of dynamic linear",
                with_quant_params({shape("shape", rank(2)), real_param()}), references::choose_per_row);
  op.tokens = tokens_of_shape;
  return op;
}

}  // namespace assay::ops
