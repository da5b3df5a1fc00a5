#include "references/choose_qparams/quantize_dynamic.h"

#include "references/affine/quantize_affine.h"
#include "references/choose_qparams/choose_qparams.h"

#include <string>
#include <utility>

namespace assay::references {

Params dynamic_params(Params params) {
  std::vector<std::int64_t> block(params.ints("shape").size(), 1);
  block.back() = -1;
  params.set("block_size", std::move(block));
  params.set("zero_point_domain", std::string("int"));
  return params;
}

std::vector<Expected> quantize_dynamic(const Params& params, std::span<const HostTensor> inputs) {
  const Params affine_params = dynamic_params(params);
  std::vector<Expected> outputs = choose_qparams(choose_affine(affine_params), inputs);
  const std::vector<HostTensor> chosen{inputs[0], outputs[0].values, outputs[1].values};
  outputs.push_back(std::move(quantize_affine(affine_params, chosen)[0]));
  return outputs;
}

}  // namespace assay::references
