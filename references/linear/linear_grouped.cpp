#include "references/linear/linear_grouped.h"

#include "references/choose_qparams/choose_qparams.h"
#include "references/common/real_output.h"
#include "references/linear/products.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace assay::references {
namespace {

/// The smallest number of values that kernels may scale and add at a time: the smallest group.
constexpr std::int64_t values_of_block = 8;

/// Transposes [groups, N] to [N, groups], so that a channel's scales are neighbours.
std::vector<double> by_channel(std::span<const float> scale, std::int64_t channels) {
  std::vector<double> made(scale.size());
  const std::size_t groups = scale.size() / static_cast<std::size_t>(channels);
  for (std::size_t i = 0; i < scale.size(); ++i) {
    const std::size_t group = i / static_cast<std::size_t>(channels),
                      n = i % static_cast<std::size_t>(channels);
    made[n * groups + group] = static_cast<double>(scale[i]);
  }
  return made;
}

/// The unit of which all float32 terms of a channel are multiples, whatever integers its scales are
/// multiplied by.
std::vector<double> common_units(const std::vector<double>& w_scale, std::int64_t channels) {
  std::vector<double> units;
  const auto groups = static_cast<std::ptrdiff_t>(w_scale.size()) / channels;
  for (auto scale = w_scale.begin(); scale != w_scale.end(); scale += groups) {
    double unit = lowest_bit(*scale);
    for (const double other : std::span(scale, scale + groups)) unit = std::min(unit, lowest_bit(other));
    units.push_back(unit);
  }
  return units;
}

GroupedSum sum_of_groups(std::span<const double> scales, std::span<const std::int32_t> sums) {
  GroupedSum result;
  const std::size_t blocks = sums.size() / scales.size();
  for (std::size_t group = 0; group < scales.size(); ++group) {
    std::int32_t sum = 0, absolute = 0;
    for (const std::int32_t block : sums.subspan(group * blocks, blocks)) {
      sum += block;
      absolute += std::abs(block);
    }
    result.value += scales[group] * sum;
    result.magnitude += scales[group] * absolute;
  }
  return result;
}

void apply(GroupedSum& element, double x_scale, double bias) {
  const double scaled = element.value * x_scale;
  element.value = scaled + bias;
  element.magnitude = element.magnitude * x_scale + std::fabs(bias);
  element.is_exact = element.is_exact && is_float32(scaled) && is_float32(element.value);
}

/// Chooses the scale (f32) and zero point (i32) of each row.
std::pair<HostTensor, HostTensor> chosen_qparams(const HostTensor& x) {
  std::vector<std::int64_t> row(x.shape().size(), 1);
  row.back() = -1;
  const ChooseQParams op{block_grid(x.shape(), row), x.dtype(), QParamsRule::PerRow, {-128, 127, 0}};
  std::vector<Expected> chosen = choose_qparams(op, {&x, 1});
  return {std::move(chosen[0].values), std::move(chosen[1].values)};
}

std::vector<Expected> with_qparams(const Linear& linear, const HostTensor& x, const HostTensor& x_scale,
                                   const HostTensor& x_zero_point, std::span<const HostTensor> weights) {
  const std::span<const float> scale = x_scale.as<float>();
  const std::span<const std::int32_t> zero_point = x_zero_point.as<std::int32_t>();
  const auto qparams = [&](std::int64_t row) {
    return QParams{scale[static_cast<std::size_t>(row)], zero_point[static_cast<std::size_t>(row)]};
  };
  return grouped_real_output({linear, quantized_rows(x, qparams), int4_rows(weights[0], EvenNibble::Low),
                              scale, weights[1].as<float>(), bias_of(linear, weights)});
}

Expected banded_output(const Shape& shape) {
  Expected y{.values = HostTensor::uninitialized(DType::I8, shape)};
  const auto elements = static_cast<std::size_t>(y.values.numel());
  y.magnitude.resize(elements);
  y.unrounded.resize(elements);
  return y;
}

/// Quantizes elements with one scale and zero point.
struct Quantizer {
  const Linear& linear;
  double inverse, zero_point;

  Quantizer(const Linear& op, const QParams& y)
      : linear(op), inverse(static_cast<double>(1.0F / y.scale)), zero_point(y.zero_point) {}

  void store(Expected& y, std::size_t i, const GroupedSum& element) const {
    const double steps = linear.activated(element.value) * inverse;
    const double scaled = std::isnan(steps) ? 0 : steps;
    const double moved = std::clamp(std::nearbyint(scaled) + zero_point, -128.0, 127.0);
    y.values.as<std::int8_t>()[i] = static_cast<std::int8_t>(moved);
    y.unrounded[i] = scaled + zero_point;
    const bool rounds = std::isfinite(steps) && !(element.is_exact && is_float32(steps));
    y.magnitude[i] = rounds ? static_cast<float>(element.magnitude * inverse) : 0;
  }
};

}  // namespace

void for_each_grouped_sum(const GroupedLinear& grouped,
                          const std::function<void(std::int64_t, const GroupedSum&)>& store) {
  const Linear& linear = grouped.linear;
  const std::vector<double> w_scale = by_channel(grouped.w_scale, linear.n);
  const std::vector<double> units = common_units(w_scale, linear.n);
  const auto groups = static_cast<std::size_t>(linear.groups());
  const auto compute = [&](std::int64_t m, std::int64_t n, std::span<const std::int32_t> sums) {
    const auto row = static_cast<std::size_t>(m), channel = static_cast<std::size_t>(n);
    GroupedSum element = sum_of_groups(std::span(w_scale).subspan(channel * groups, groups), sums);
    element.is_exact = element.magnitude <= std::ldexp(units[channel], 24);
    apply(element, static_cast<double>(grouped.x_scale[row]),
          grouped.bias.empty() ? 0 : static_cast<double>(grouped.bias[channel]));
    store(m * linear.n + n, element);
  };
  integer_products(grouped.x, grouped.w, values_of_block, compute);
}

std::vector<Expected> grouped_real_output(const GroupedLinear& grouped) {
  BoundedOutput y(grouped.linear.real, grouped.linear.y_shape());
  for_each_grouped_sum(grouped, [&](std::int64_t index, const GroupedSum& element) {
    y.set(index, grouped.linear.activated(element.value), element.magnitude);
  });
  return {y.take()};
}

std::vector<Expected> linear_dq8ca_q4gsw(const Params& params, std::span<const HostTensor> inputs) {
  const Linear linear = linear_params(params, most_depth_with_zero_point);
  if (params.choice("activations") == "given") {
    return with_qparams(linear, inputs[0], inputs[1], inputs[2], inputs.subspan(3));
  }
  const auto [scale, zero_point] = chosen_qparams(inputs[0]);
  return with_qparams(linear, inputs[0], scale, zero_point, inputs.subspan(1));
}

GroupedLinear qta8a_qga4w(const Linear& linear, std::span<const HostTensor> inputs) {
  return {linear,
          int8_rows(inputs[0], inputs[2].as<std::int32_t>()),
          int4_rows(inputs[3], EvenNibble::High, inputs[5]),
          inputs[1].as<float>(),
          inputs[4].as<float>(),
          bias_of(linear, inputs)};
}

std::vector<Expected> linear_qta8a_qga4w(const Params& params, std::span<const HostTensor> inputs) {
  const Linear linear = linear_params(params, most_depth_with_zero_point);
  return grouped_real_output(qta8a_qga4w(linear, inputs));
}

std::vector<Expected> linear_qta8a_qga4w_qta8o(const Params& params, std::span<const HostTensor> inputs) {
  const Linear linear = linear_params(params, most_depth_with_zero_point);
  const Quantizer quantizer(linear, params.qparams("y"));
  std::vector<Expected> outputs{banded_output(linear.y_shape())};
  for_each_grouped_sum(qta8a_qga4w(linear, inputs), [&](std::int64_t index, const GroupedSum& element) {
    quantizer.store(outputs[0], static_cast<std::size_t>(index), element);
  });
  return outputs;
}

}  // namespace assay::references
