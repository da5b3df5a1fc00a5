#include "ops/convolution/impls.h"

#include "ops/linear/coopmat.h"

#include <string>
#include <vector>

namespace assay::ops {

Impl chosen_convolution(const std::string& matrices, const std::string& dot, const std::string& otherwise) {
  Impl impl{.name = "auto"};
  impl.summary = "chosen by what the device is fast at";
  impl.choose = [=](const BuildContext& context) {
    std::vector<std::string> ranking;
    if (has_matrices(context.device, {XKind::Int8, WeightKind::Int8})) ranking.push_back(matrices);
    if (!dot.empty() && context.device.dot_product_accelerated) ranking.push_back(dot);
    ranking.push_back(otherwise);
    return ranking;
  };
  return impl;
}

}  // namespace assay::ops
