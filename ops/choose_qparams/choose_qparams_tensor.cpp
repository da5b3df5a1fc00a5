#include "ops/choose_qparams/choose.h"

namespace assay::ops {

Op choose_qparams_tensor() {
  std::vector<ParamSpec> params{shape("shape", rank(1, 4)), real_param()};
  for (ParamSpec& param : quant_params()) params.push_back(std::move(param));
  params.push_back(eps_param());
  return choose_op("choose_qparams_tensor", "asymmetric scale and zero point of a whole tensor",
                   std::move(params), references::choose_tensor);
}

}  // namespace assay::ops
