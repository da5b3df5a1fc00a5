#include "references/relayout/q8ta_dequantize.h"

#include "harness/base/parallel.h"
#include "references/common/real_output.h"

namespace assay::references {
namespace {

template <class Real>
void dequantize_all(std::span<const std::int8_t> x, std::span<Real> y, const QParams& from) {
  parallel_for(static_cast<std::int64_t>(x.size()), cheap_grain, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      store(y[i], from.scale * static_cast<float>(x[i] - from.zero_point));
    }
  });
}

}  // namespace

std::vector<Expected> q8ta_dequantize(const Params& params, std::span<const HostTensor> inputs) {
  return real_output(parse_dtype(params.choice("dtype")).value(), inputs[0].shape(),
                     [&](auto y) { dequantize_all(inputs[0].as<std::int8_t>(), y, params.qparams("x")); });
}

}  // namespace assay::references
