#include "references/relayout/q8ta_clone.h"

namespace assay::references {

std::vector<Expected> q8ta_clone(const Params& /*params*/, std::span<const HostTensor> inputs) {
  std::vector<Expected> outputs(1);
  outputs[0].values = inputs[0];
  return outputs;
}

}  // namespace assay::references
