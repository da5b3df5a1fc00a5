#include "references/linear/linear_grouped.h"

#include "references/common/exact_float.h"
#include "references/common/real_output.h"
#include "references/linear/integer_products.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

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

}  // namespace assay::references
