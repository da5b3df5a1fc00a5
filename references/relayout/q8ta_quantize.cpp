#include "references/relayout/q8ta_quantize.h"

#include "harness/base/parallel.h"
#include "references/common/qparams.h"

namespace assay::references {
namespace {

template <class Real>
void quantize_all(std::span<const Real> x, std::span<std::int8_t> y, const QParams& to) {
  const float inverse = 1.0f / to.scale;
  const auto zero_point = static_cast<float>(to.zero_point);
  parallel_for(static_cast<std::int64_t>(x.size()), cheap_grain, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) y[i] = quantized(real_of(x[i]), inverse, zero_point);
  });
}

}  // namespace

std::vector<Expected> q8ta_quantize(const Params& params, std::span<const HostTensor> inputs) {
  std::vector<Expected> outputs(1);
  HostTensor& y = outputs[0].values;
  y = HostTensor(DType::I8, inputs[0].shape());
  if (inputs[0].dtype() == DType::F32) {
    quantize_all(inputs[0].as<float>(), y.as<std::int8_t>(), params.qparams("y"));
  } else {
    quantize_all(inputs[0].as<Half>(), y.as<std::int8_t>(), params.qparams("y"));
  }
  return outputs;
}

}  // namespace assay::references
