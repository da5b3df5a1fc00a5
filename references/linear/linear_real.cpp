#include "references/linear/linear_real.h"

#include "harness/base/parallel.h"
#include "references/linear/products.h"

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

/// (nibble - 8) * scale is exact in float64, and so is its product with any x.
struct Weights {
  const Linear& linear;
  IntegerRows nibbles;
  const float* scale;

  void read(std::int64_t n, std::int64_t first, std::int64_t last, double* to) const {
    const std::int16_t* from = nibbles.row(n);
    for (std::int64_t k = first; k < last;) {
      const std::int64_t group = k / linear.group_size;
      const std::int64_t end = std::min(last, (group + 1) * linear.group_size);
      const auto of_group = static_cast<double>(scale[group * linear.n + n]);
      for (; k < end; ++k) *to++ = from[k] * of_group;
    }
  }
};

}  // namespace

void RealEpilogue::set(BoundedOutput& y, std::int64_t index, std::int64_t n, double sum,
                       double magnitude) const {
  const auto channel = static_cast<std::size_t>(n);
  const double added = bias.empty() ? 0 : static_cast<double>(bias[channel]);
  // A slope of at most 1.5, and four roundings of values that are no larger than what is activated.
  const double factor = linear.activation == Activation::Hardswish ? 2 : 1;
  y.set(index, linear.activated(sum * scale[channel] + added),
        factor * (magnitude * std::fabs(scale[channel]) + std::fabs(added)));
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

std::vector<Expected> linear_q8csw(const Params& params, std::span<const HostTensor> inputs) {
  const Linear linear = linear_params(params, any_depth);
  const std::int8_t* q = inputs[1].as<std::int8_t>().data();
  const RealRows w{linear.n, linear.k,
                   [=, depth = linear.k](std::int64_t n, std::int64_t first, std::int64_t last, double* to) {
                     std::copy(q + n * depth + first, q + n * depth + last, to);
                   }};
  const std::span<const float> w_scale = inputs[2].as<float>();
  const std::vector<double> scale(w_scale.begin(), w_scale.end());
  return real_linear(linear, inputs[0], w, scale, bias_of(linear, inputs));
}

std::vector<Expected> linear_q4gsw(const Params& params, std::span<const HostTensor> inputs) {
  const Linear linear = linear_params(params, any_depth);
  const Weights weights{linear, int4_rows(inputs[1], EvenNibble::Low), inputs[2].as<float>().data()};
  const RealRows w{linear.n, linear.k,
                   [&](std::int64_t n, std::int64_t first, std::int64_t last, double* to) {
                     weights.read(n, first, last, to);
                   }};
  const std::vector<double> ones(static_cast<std::size_t>(linear.n), 1.0);
  return real_linear(linear, inputs[0], w, ones, bias_of(linear, inputs));
}

}  // namespace assay::references
