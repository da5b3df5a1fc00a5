#include "references/q8ta_dequantize.h"

#include "harness/base/parallel.h"
#include "references/half_bounds.h"

namespace assay::references {
namespace {

constexpr std::int64_t grain = 1 << 15;

void store(float value, float& y) {
  y = value;
}
void store(float value, Half& y) {
  y = to_half(value);
}

template <class Real>
void dequantize_all(std::span<const std::int8_t> x, std::span<Real> y, const QParams& from) {
  parallel_for(static_cast<std::int64_t>(x.size()), grain, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      store(from.scale * static_cast<float>(x[i] - from.zero_point), y[i]);
    }
  });
}

}  // namespace

std::vector<Expected> q8ta_dequantize(const Params& params, std::span<const HostTensor> inputs) {
  const bool in_half = params.choice("dtype") == "f16";
  std::vector<Expected> outputs(1);
  Expected& y = outputs[0];
  y.values = HostTensor(in_half ? DType::F16 : DType::F32, inputs[0].shape());
  if (!in_half) {
    dequantize_all(inputs[0].as<std::int8_t>(), y.values.as<float>(), params.qparams("x"));
    return outputs;
  }
  dequantize_all(inputs[0].as<std::int8_t>(), y.values.as<Half>(), params.qparams("x"));
  y.output_class = OutputClass::Bounded;
  y.bound = ulp_bounds(y.values.as<Half>());
  return outputs;
}

}  // namespace assay::references
