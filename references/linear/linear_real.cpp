#include "references/linear/linear_real.h"

#include "harness/base/parallel.h"

#include <algorithm>
#include <cmath>

namespace assay::references {

namespace {

/// Halves are converted once, not each time they are read.
std::vector<float> widened(std::span<const Half> x) {
  std::vector<float> made(x.size());
  parallel_for(std::ssize(x), cheap_grain, [&](std::int64_t first, std::int64_t last) {
    std::transform(x.begin() + first, x.begin() + last, made.begin() + first, to_float);
  });
  return made;
}

/// The rows of `x`, to which they keep a reference.
RealRows real_rows(const Linear& linear, std::span<const float> x) {
  return {linear.rows(), linear.k,
          [=, depth = linear.k](std::int64_t row, std::int64_t first, std::int64_t last, double* to) {
            std::copy(x.begin() + row * depth + first, x.begin() + row * depth + last, to);
          }};
}

}  // namespace

void RealEpilogue::set(BoundedOutput& y, std::int64_t index, std::int64_t n, double sum,
                       double magnitude) const {
  const auto channel = static_cast<std::size_t>(n);
  const double added = bias.empty() ? 0 : static_cast<double>(bias[channel]);
  y.set(index, linear.activated(sum * scale[channel] + added),
        magnitude * std::fabs(scale[channel]) + std::fabs(added));
}

std::vector<Expected> real_linear(const Linear& linear, const HostTensor& x, const RealRows& w,
                                  std::span<const double> scale, std::span<const float> bias) {
  const bool is_half = x.dtype() == DType::F16;
  const std::vector<float> floats = is_half ? widened(x.as<Half>()) : std::vector<float>();
  const RealRows rows = real_rows(linear, is_half ? floats : x.as<float>());
  const RealEpilogue epilogue{linear, scale, bias};
  BoundedOutput y(linear.real, linear.y_shape());
  real_products(rows, w, [&](std::int64_t m, std::int64_t n, double sum, double magnitude) {
    epilogue.set(y, m * linear.n + n, n, sum, magnitude);
  });
  return {y.take()};
}

}  // namespace assay::references
