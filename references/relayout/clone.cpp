#include "references/relayout/clone.h"

namespace assay::references {

std::vector<Expected> clone(const Params& /*params*/, std::span<const HostTensor> inputs) {
  std::vector<Expected> outputs(1);
  outputs[0].values = inputs[0];
  return outputs;
}

}  // namespace assay::references
