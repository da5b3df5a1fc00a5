#include "ops/choose_qparams/choose.h"

namespace assay::ops {

Op choose_qparams_per_row() {
  std::vector<ParamSpec> params{shape("shape", rank(2)), real_param()};
  for (ParamSpec& param : quant_params()) params.push_back(std::move(param));
  return choose_op("choose_qparams_per_row",
                   "scale and zero point of each row, by the rules of dynamic linear", std::move(params),
                   references::choose_per_row);
}

}  // namespace assay::ops
