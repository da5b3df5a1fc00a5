#include "references/transformer/norms.h"

#include "harness/base/parallel.h"
#include "references/common/real_output.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace assay::references {
namespace {

// A value of x below 2^-126 may be read as 0, and a step's result may be flushed. Each loses less than
// 2^-126, of which a norm makes at most this much, times (1 + 1 / S) |w|.
constexpr double flushed = 0x1p-124;

/// What is lost where a weight below 2^-126 is read as 0: it times the value that it scales.
double lost_with_weight(double weight, double scaled) {
  return std::fabs(weight) < 0x1p-126 ? std::fabs(weight * scaled) : 0;
}

constexpr double ulp_of_half = 0x1p-10;  // of 1

using Row = std::span<const double>;

/// Calls compute(first element, values) for each row of x, in parallel.
void for_each_row(const HostTensor& x, const std::function<void(std::int64_t, Row)>& compute) {
  const std::int64_t width = x.shape().back();
  const std::int64_t grain = std::max<std::int64_t>(1, cheap_grain / width);
  parallel_for(x.numel() / width, grain, [&](std::int64_t first, std::int64_t last) {
    std::vector<double> row(static_cast<std::size_t>(width));
    for (std::int64_t i = first; i < last; ++i) {
      for (std::size_t k = 0; k < row.size(); ++k) row[k] = x.at(i * width + static_cast<std::int64_t>(k));
      compute(i * width, row);
    }
  });
}

double mean_of(Row row, const std::function<double(double)>& term) {
  double sum = 0;
  for (const double value : row) sum += term(value);
  return sum / static_cast<double>(row.size());
}

std::vector<double> values_of(const HostTensor& tensor) {
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(tensor.numel()));
  for (std::int64_t i = 0; i < tensor.numel(); ++i) values.push_back(tensor.at(i));
  return values;
}

DType dtype_of(const Params& params) {
  return parse_dtype(params.choice("dtype")).value();
}

double rounded_to(DType dtype, double value) {
  const auto single = static_cast<float>(value);
  return static_cast<double>(dtype == DType::F16 ? to_float(to_half(single)) : single);
}

/// h = x + residual, as a second output and as the values that are normalized.
Expected sum_with(const HostTensor& x, const HostTensor& residual, HostTensor& h) {
  BoundedOutput output(x.dtype(), x.shape(), BoundedOutput::Flushed::Absolute);
  h = HostTensor::uninitialized(DType::F64, x.shape());
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    const double value = rounded_to(x.dtype(), x.at(i) + residual.at(i));
    h.as<double>()[static_cast<std::size_t>(i)] = value;
    output.set(i, value, 0, x.dtype() == DType::F16 ? 0 : flushed);
  }
  return output.take();
}

}  // namespace

std::vector<Expected> rms_norm(const Params& params, std::span<const HostTensor> inputs) {
  const DType dtype = dtype_of(params);
  const double eps = params.number("eps");
  const bool has_residual = params.boolean("residual");
  const std::vector<double> w = values_of(inputs[1]);
  BoundedOutput y(dtype, inputs[0].shape(), BoundedOutput::Flushed::Absolute);
  std::vector<Expected> outputs(1);
  HostTensor h;
  if (has_residual) outputs.push_back(sum_with(inputs[0], inputs[2], h));
  for_each_row(has_residual ? h : inputs[0], [&](std::int64_t first, Row row) {
    const double root = std::sqrt(mean_of(row, [](double value) { return value * value; }) + eps);
    for (std::size_t k = 0; k < row.size(); ++k) {
      const double value = row[k] * w[k] / root;
      const double of_h = has_residual ? std::fabs(value) * ulp_of_half : 0;
      const double of_steps =
          flushed * (1 + 1 / root) * std::fabs(w[k]) + lost_with_weight(w[k], row[k] / root);
      const double absolute = dtype == DType::F16 ? of_h : of_steps;
      y.set(first + static_cast<std::int64_t>(k), value, std::fabs(value), absolute);
    }
  });
  outputs[0] = y.take();
  return outputs;
}

std::vector<Expected> layer_norm(const Params& params, std::span<const HostTensor> inputs) {
  const DType dtype = dtype_of(params);
  const double eps = params.number("eps");
  const std::vector<double> w = values_of(inputs[1]), b = values_of(inputs[2]);
  BoundedOutput y(dtype, inputs[0].shape(), BoundedOutput::Flushed::Absolute);
  for_each_row(inputs[0], [&](std::int64_t first, Row row) {
    const double mean = mean_of(row, [](double value) { return value; });
    const double size = mean_of(row, [](double value) { return std::fabs(value); });
    const double root =
        std::sqrt(mean_of(row, [mean](double value) { return (value - mean) * (value - mean); }) + eps);
    double largest = 0;
    for (const double value : row) largest = std::fmax(largest, std::fabs(value));
    for (std::size_t k = 0; k < row.size(); ++k) {
      const double weight = std::fabs(w[k]);
      const double apart = row[k] - mean;
      const double magnitude = weight * (std::fabs(row[k]) + size) / root +
                               weight * std::fabs(apart) * (largest + size) / (root * root) + std::fabs(b[k]);
      const double of_steps =
          flushed * (1 + (1 + 1 / root) * weight) + lost_with_weight(weight, apart / root);
      const double absolute = dtype == DType::F16 ? 0 : of_steps;
      y.set(first + static_cast<std::int64_t>(k), apart / root * w[k] + b[k], magnitude, absolute);
    }
  });
  std::vector<Expected> outputs;
  outputs.push_back(y.take());
  return outputs;
}

}  // namespace assay::references
