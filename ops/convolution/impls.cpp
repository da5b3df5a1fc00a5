#include "ops/convolution/impls.h"

#include "ops/linear/coopmat.h"

#include <utility>

namespace assay::ops {

Impl chosen_convolution(std::string matrices, std::string otherwise) {
  Impl impl{.name = "auto"};
  impl.summary = "matrices where the device multiplies them";
  impl.choose = [matrices = std::move(matrices),
                 otherwise = std::move(otherwise)](const BuildContext& context) {
    const bool has = has_matrices(context.device, {XKind::Int8, WeightKind::Int8});
    return has ? std::vector<std::string>{matrices, otherwise} : std::vector<std::string>{otherwise};
  };
  return impl;
}

}  // namespace assay::ops
