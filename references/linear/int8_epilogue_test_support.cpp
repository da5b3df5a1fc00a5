#include "references/linear/int8_epilogue_test_support.h"

#include <algorithm>
#include <cmath>

namespace assay::test {
namespace {

float by_floats(const Params& params, std::int64_t sum, float w_scale, std::optional<float> bias) {
  const QParams x = params.qparams("x"), y = params.qparams("y");
  const float scale = x.scale * w_scale;
  float f = static_cast<float>(sum) * scale;
  if (bias) f = f + *bias;
  if (params.choice("activation") == "relu") f = std::max(f, 0.0F);
  const float inverse = 1.0F / y.scale;
  return std::clamp(std::nearbyint(f * inverse) + static_cast<float>(y.zero_point), -128.0F, 127.0F);
}

/// floor(A * r + 1/2) in long double, where r has the 31 bits of the fixed point.
double by_integers(const Params& params, std::int64_t sum, float w_scale, std::optional<float> bias) {
  const QParams x = params.qparams("x"), y = params.qparams("y");
  const double step = static_cast<double>(x.scale) * static_cast<double>(w_scale);
  const double r = step / static_cast<double>(y.scale);
  const double unit = std::ldexp(1.0, std::ilogb(r) - 30);
  const long double rounded_r = static_cast<long double>(std::nearbyint(r / unit)) * unit;
  auto a = static_cast<double>(sum);
  if (bias) a += std::nearbyint(static_cast<double>(*bias) / step);
  if (params.choice("activation") == "relu") a = std::max(a, 0.0);
  const auto q = static_cast<double>(std::floor(a * rounded_r + 0.5L));
  return std::clamp(q + y.zero_point, -128.0, 127.0);
}

}  // namespace

double plain_int8(const Params& params, std::int64_t sum, float w_scale, std::optional<float> bias) {
  if (params.choice("epilogue") == "fixed_point") return by_integers(params, sum, w_scale, bias);
  return static_cast<double>(by_floats(params, sum, w_scale, bias));
}

}  // namespace assay::test
