#include "references/linear_grouped.h"

#include "references/bounded_output.h"
#include "references/exact_float.h"
#include "references/integer_products.h"

#include <cmath>

namespace assay::references {
namespace {

/// [groups, N] to [N, groups]: those of a channel one after the other.
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

GroupedSum sum_of_groups(const double* scale, std::span<const std::int32_t> sums) {
  GroupedSum result;
  ExactTerms terms;
  for (const std::int32_t sum : sums) {
    const double term = *scale++ * sum;
    result.value += term;
    result.magnitude += std::fabs(term);
    terms.add(sum, term);
  }
  result.is_exact = terms.are_exact();
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
  const auto compute = [&](std::int64_t m, std::int64_t n, std::span<const std::int32_t> sums) {
    const auto row = static_cast<std::size_t>(m), channel = static_cast<std::size_t>(n);
    GroupedSum element = sum_of_groups(w_scale.data() + channel * sums.size(), sums);
    apply(element, static_cast<double>(grouped.x_scale[row]),
          grouped.bias.empty() ? 0 : static_cast<double>(grouped.bias[channel]));
    store(m * linear.n + n, element);
  };
  integer_products(grouped.x, grouped.w, linear.group_size, compute);
}

std::vector<Expected> grouped_real_output(const GroupedLinear& grouped) {
  BoundedOutput y(grouped.linear.real, grouped.linear.y_shape());
  for_each_grouped_sum(grouped, [&](std::int64_t index, const GroupedSum& element) {
    y.set(index, grouped.linear.activated(element.value), element.magnitude);
  });
  return {y.take()};
}

}  // namespace assay::references
