#include "references/transformer/softmax.h"

#include "harness/base/parallel.h"
#include "references/common/real_output.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay::references {
namespace {

/// NaN where a value is NaN.
double largest_of(std::span<const double> row) {
  double largest = -std::numeric_limits<double>::infinity();
  for (const double value : row) {
    if (std::isnan(value)) return value;
    largest = std::fmax(largest, value);
  }
  return largest;
}

void set_all(BoundedOutput& y, std::int64_t first, std::int64_t width, double value) {
  for (std::int64_t i = 0; i < width; ++i) y.set(first + i, value, 0);
}

void set_row(BoundedOutput& y, std::int64_t first, std::span<const double> row) {
  const auto width = static_cast<std::int64_t>(row.size());
  const double largest = largest_of(row);
  if (std::isnan(largest) || (std::isinf(largest) && largest > 0)) {
    return set_all(y, first, width, std::numeric_limits<double>::quiet_NaN());
  }
  if (std::isinf(largest)) return set_all(y, first, width, 0);
  double sum = 0, distances = 0;  // weighted by exp(x - m), which is 0 where the distance is infinite
  for (const double value : row) {
    const double weight = std::exp(value - largest);
    sum += weight;
    if (weight > 0) distances += weight * (largest - value);
  }
  for (std::int64_t i = 0; i < width; ++i) {
    const double distance = largest - row[static_cast<std::size_t>(i)];
    const double share = std::exp(-distance) / sum;
    y.set(first + i, share, share > 0 ? share * (1 + distance + distances / sum) : 0);
  }
}

}  // namespace

std::vector<Expected> softmax(const Params& params, std::span<const HostTensor> inputs) {
  const Shape& shape = params.ints("shape");
  BoundedOutput y(parse_dtype(params.choice("dtype")).value(), shape, BoundedOutput::Flushed::Absolute);
  const std::int64_t width = shape.back();
  const std::int64_t grain = std::max<std::int64_t>(1, cheap_grain / width);
  parallel_for(numel(shape) / width, grain, [&](std::int64_t first, std::int64_t last) {
    std::vector<double> row(static_cast<std::size_t>(width));
    for (std::int64_t i = first; i < last; ++i) {
      for (std::int64_t k = 0; k < width; ++k) {
        row[static_cast<std::size_t>(k)] = inputs[0].at(i * width + k);
      }
      set_row(y, i * width, row);
    }
  });
  std::vector<Expected> outputs;
  outputs.push_back(y.take());
  return outputs;
}

}  // namespace assay::references
