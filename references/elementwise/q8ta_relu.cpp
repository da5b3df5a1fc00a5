#include "references/elementwise/q8ta_relu.h"

#include "harness/base/parallel.h"

#include <algorithm>
#include <cmath>

namespace assay::references {
namespace {

std::int8_t rectify(std::int32_t q, const QParams& x, const QParams& y) {
  const float inverse = 1.0F / y.scale;
  const float real = static_cast<float>(q - x.zero_point) * x.scale;
  const float rectified = std::max(real, 0.0F);
  const float moved = std::nearbyint(rectified * inverse) + static_cast<float>(y.zero_point);
  return static_cast<std::int8_t>(std::clamp(moved, -128.0F, 127.0F));
}

}  // namespace

std::array<std::int8_t, 256> rectified_bytes(const QParams& x, const QParams& y) {
  std::array<std::int8_t, 256> answers{};
  for (std::int32_t q = -128; q <= 127; ++q) answers[static_cast<std::uint8_t>(q)] = rectify(q, x, y);
  return answers;
}

std::vector<Expected> q8ta_relu(const Params& params, std::span<const HostTensor> inputs) {
  const auto answers = rectified_bytes(params.qparams("x"), params.qparams("y"));
  std::vector<Expected> outputs(1);
  outputs[0].values = HostTensor(DType::I8, inputs[0].shape());
  const std::span<const std::int8_t> x = inputs[0].as<std::int8_t>();
  const std::span<std::int8_t> y = outputs[0].values.as<std::int8_t>();
  parallel_for(static_cast<std::int64_t>(x.size()), cheap_grain, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) y[i] = answers[static_cast<std::uint8_t>(x[i])];
  });
  return outputs;
}

}  // namespace assay::references
