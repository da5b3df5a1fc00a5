#include "references/linear/linear_integer.h"

#include "harness/base/error.h"
#include "references/common/qparams.h"
#include "references/common/real_output.h"
#include "references/linear/products.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace assay::references {
namespace {

using Int32 = std::numeric_limits<std::int32_t>;

/// Clamps before it rounds, which gives the same result because the ends are integers.
std::int32_t bias_in_steps(float bias, double step) {
  const double steps = std::isnan(bias) ? 0 : static_cast<double>(bias) / step;
  return static_cast<std::int32_t>(std::llrint(std::clamp<double>(steps, Int32::min(), Int32::max())));
}

/// The largest absolute value of sum + bias for any x.
std::int64_t largest_sum(const IntegerRows& w, std::int64_t n, std::int32_t zero_point, std::int32_t bias) {
  const std::int64_t largest_x = std::max(128 + zero_point, 127 - zero_point);
  std::int64_t sum = std::abs(std::int64_t{bias});
  for (std::int64_t k = 0; k < w.depth; ++k) sum += std::abs(w.row(n)[k]) * largest_x;
  return sum;
}

FixedPoint checked_factor(double r, std::size_t n) {
  const std::optional<FixedPoint> factor = fixed_point(r);
  if (factor) return *factor;
  throw ParameterError("epilogue", fmt::format("fixed_point shifts by 1 to 62 bits, so x.scale * w_scale[{}] "
                                               "/ y.scale = {:g} must lie between 2^-32 and 2^30",
                                               n, r));
}

void check_range(const IntegerRows& w, std::size_t n, std::int32_t zero_point, std::int32_t bias) {
  const std::int64_t largest = largest_sum(w, static_cast<std::int64_t>(n), zero_point, bias);
  if (largest <= Int32::max()) return;
  throw ParameterError("epilogue",
                       fmt::format("fixed_point adds the bias in int32, but with the bias of output channel "
                                   "{}, {} in units of x.scale * w_scale, sums may reach {}",
                                   n, bias, largest));
}

}  // namespace

float FloatEpilogue::operator()(std::int64_t n, std::int32_t sum) const {
  const auto channel = static_cast<std::size_t>(n);
  const float factor = x_scale * w_scale[channel];
  const float value = static_cast<float>(sum) * factor;
  return linear.activated(bias.empty() ? value : value + bias[channel]);
}

void for_each_sum(const IntegerRows& x, const IntegerRows& w, const StoreSum& store) {
  integer_products(x, w, w.depth, [&](std::int64_t m, std::int64_t n, std::span<const std::int32_t> sums) {
    store(m * w.rows + n, n, sums.front());
  });
}

std::optional<FixedPoint> fixed_point(double r) {
  int exponent = 0;
  const double mantissa = std::frexp(r, &exponent);
  FixedPoint made{std::llrint(std::ldexp(mantissa, 31)), 31 - exponent};
  if (made.mult == std::int64_t{1} << 31) made = {made.mult / 2, made.shift - 1};
  if (made.shift < 1 || made.shift > 62) return std::nullopt;
  return made;
}

std::vector<FixedPointChannel> fixed_point_channels(const QParams& x, const QParams& y, const IntegerRows& w,
                                                    std::span<const float> w_scale,
                                                    std::span<const float> bias) {
  std::vector<FixedPointChannel> channels(w_scale.size());
  for (std::size_t n = 0; n < channels.size(); ++n) {
    const double step = static_cast<double>(x.scale) * static_cast<double>(w_scale[n]);
    channels[n].factor = checked_factor(step / static_cast<double>(y.scale), n);
    if (bias.empty()) continue;
    channels[n].bias = bias_in_steps(bias[n], step);
    check_range(w, n, x.zero_point, channels[n].bias);
  }
  return channels;
}

std::int8_t requantized(const FixedPointChannel& channel, std::int32_t sum, bool relu,
                        std::int32_t zero_point) {
  const std::int64_t with_bias = std::int64_t{sum} + channel.bias;
  const std::int64_t a = relu ? std::max<std::int64_t>(with_bias, 0) : with_bias;
  const std::int64_t half = std::int64_t{1} << (channel.factor.shift - 1);
  const std::int64_t q = ((a * channel.factor.mult + half) >> channel.factor.shift) + zero_point;
  return static_cast<std::int8_t>(std::clamp<std::int64_t>(q, -128, 127));
}

void check_fixed_point_activation(const Params& params) {
  const Activation activation = activation_of(params);
  if (activation == Activation::None || activation == Activation::Relu) return;
  throw ParameterError(
      "activation",
      fmt::format("activation {} is of real values, which epilogue fixed_point does not compute: "
                  "use epilogue float32, or none or relu",
                  params.choice("activation")));
}

Int8Epilogue::Int8Epilogue(const Params& params, const Linear& linear, const IntegerRows& w,
                           std::span<const float> w_scale, std::span<const float> bias)
    : floats_{linear, params.qparams("x").scale, w_scale, bias},
      y_(params.qparams("y")),
      inverse_(1.0F / y_.scale) {
  if (params.choice("epilogue") == "fixed_point") {
    check_fixed_point_activation(params);
    channels_ = fixed_point_channels(params.qparams("x"), y_, w, w_scale, bias);
  }
}

std::int8_t Int8Epilogue::operator()(std::int64_t n, std::int32_t sum) const {
  if (channels_.empty()) return quantized(floats_(n, sum), inverse_, static_cast<float>(y_.zero_point));
  return requantized(channels_[static_cast<std::size_t>(n)], sum,
                     floats_.linear.activation == Activation::Relu, y_.zero_point);
}

std::vector<Expected> linear_q8ta_q8csw(const Params& params, std::span<const HostTensor> inputs) {
  const Linear linear = linear_params(params, most_depth_with_zero_point);
  const QParams& qparams = params.qparams("x");
  const IntegerRows x = quantized_rows(inputs[0], [&](std::int64_t) { return qparams; });
  const IntegerRows w = int8_rows(inputs[1]);
  const FloatEpilogue epilogue{linear, qparams.scale, inputs[2].as<float>(), bias_of(linear, inputs)};
  return real_output(linear.real, linear.y_shape(), [&](auto y) {
    for_each_sum(x, w, [&](std::int64_t index, std::int64_t n, std::int32_t sum) {
      store(y[static_cast<std::size_t>(index)], epilogue(n, sum));
    });
  });
}

std::vector<Expected> q8ta_linear(const Params& params, std::span<const HostTensor> inputs) {
  const Linear linear = linear_params(params, most_depth_with_zero_point);
  const IntegerRows x = int8_rows(inputs[0], params.qparams("x").zero_point);
  const IntegerRows w = int8_rows(inputs[1]);
  const Int8Epilogue epilogue(params, linear, w, inputs[2].as<float>(), bias_of(linear, inputs));
  std::vector<Expected> outputs(1);
  outputs[0].values = HostTensor::uninitialized(DType::I8, linear.y_shape());
  const std::span<std::int8_t> y = outputs[0].values.as<std::int8_t>();
  for_each_sum(x, w, [&](std::int64_t index, std::int64_t n, std::int32_t sum) {
    y[static_cast<std::size_t>(index)] = epilogue(n, sum);
  });
  return outputs;
}

}  // namespace assay::references
