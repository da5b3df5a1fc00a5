#include "references/linear_grouped.h"

#include "references/bounded_output.h"
#include "references/exact_float.h"
#include "references/integer_products.h"

#include <cmath>

namespace assay::references {
namespace {

GroupedSum sum_of_groups(const GroupedLinear& grouped, std::int64_t n, std::span<const std::int32_t> sums) {
  GroupedSum result;
  ExactTerms terms;
  const float* scale = grouped.w_scale.data() + n;
  for (const std::int32_t sum : sums) {
    const double term = static_cast<double>(*scale) * sum;
    result.value += term;
    result.magnitude += std::fabs(term);
    terms.add(sum, term);
    scale += grouped.linear.n;
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
  const std::int64_t channels = grouped.linear.n;
  integer_products(grouped.x, grouped.w, grouped.linear.group_size,
                   [&](std::int64_t m, std::int64_t n, std::span<const std::int32_t> sums) {
                     GroupedSum element = sum_of_groups(grouped, n, sums);
                     const double bias = grouped.bias.empty()
                                             ? 0
                                             : static_cast<double>(grouped.bias[static_cast<std::size_t>(n)]);
                     apply(element, static_cast<double>(grouped.x_scale[static_cast<std::size_t>(m)]), bias);
                     store(m * channels + n, element);
                   });
}

std::vector<Expected> grouped_real_output(const GroupedLinear& grouped) {
  BoundedOutput y(grouped.linear.real, grouped.linear.y_shape());
  for_each_grouped_sum(grouped, [&](std::int64_t index, const GroupedSum& element) {
    y.set(index, grouped.linear.activated(element.value), element.magnitude);
  });
  return {y.take()};
}

}  // namespace assay::references
