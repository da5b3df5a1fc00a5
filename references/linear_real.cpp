#include "references/linear_real.h"

#include "references/bounded_output.h"

#include <algorithm>
#include <cmath>

namespace assay::references {

RealRows real_rows(const HostTensor& x) {
  const std::int64_t depth = x.shape().back();
  RealRows rows{x.numel() / depth, depth, {}};
  if (x.dtype() == DType::F32) {
    rows.read = [=, from = x.as<float>().data()](std::int64_t row, std::int64_t first, std::int64_t last,
                                                 double* to) {
      std::copy(from + row * depth + first, from + row * depth + last, to);
    };
  } else {
    rows.read = [=, from = x.as<Half>().data()](std::int64_t row, std::int64_t first, std::int64_t last,
                                                double* to) {
      std::transform(from + row * depth + first, from + row * depth + last, to,
                     [](Half half) { return static_cast<double>(to_float(half)); });
    };
  }
  return rows;
}

std::vector<Expected> real_linear(const Linear& linear, const HostTensor& x, const RealRows& w,
                                  std::span<const double> scale, std::span<const float> bias) {
  BoundedOutput y(linear.real, linear.y_shape());
  real_products(real_rows(x), w, [&](std::int64_t m, std::int64_t n, double sum, double magnitude) {
    const auto channel = static_cast<std::size_t>(n);
    const double added = bias.empty() ? 0 : static_cast<double>(bias[channel]);
    y.set(m * linear.n + n, linear.activated(sum * scale[channel] + added),
          magnitude * std::fabs(scale[channel]) + std::fabs(added));
  });
  return {y.take()};
}

}  // namespace assay::references
