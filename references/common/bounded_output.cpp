#include "references/common/bounded_output.h"

#include "references/common/real_output.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay::references {
namespace {

constexpr double least_magnitude = 0x1p-90;

/// The float32 next to the value, never below it where a float32 can be above it.
float rounded_up(double magnitude) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr float most = std::numeric_limits<float>::max();
  if (magnitude >= most) return most;
  const auto nearest = static_cast<float>(std::max(magnitude, least_magnitude));
  return nearest < magnitude ? std::nextafter(nearest, infinity) : nearest;
}

}  // namespace

BoundedOutput::BoundedOutput(DType dtype, const Shape& shape) : dtype_(dtype) {
  expected_.values = HostTensor::uninitialized(DType::F64, shape);
  const auto elements = static_cast<std::size_t>(expected_.values.numel());
  expected_.magnitude.resize(elements);
  if (dtype == DType::F16) expected_.bound.resize(elements);
}

void BoundedOutput::set(std::int64_t index, double value, double magnitude) {
  const auto i = static_cast<std::size_t>(index);
  auto stored = static_cast<float>(value);
  if (dtype_ == DType::F16) {
    const Half half = to_half(stored);
    expected_.bound[i] = ulp_of(half);
    stored = to_float(half);
  }
  const bool is_finite = std::isfinite(stored);
  expected_.values.as<double>()[i] = is_finite ? value : stored;
  expected_.magnitude[i] = is_finite ? rounded_up(magnitude) : 0;
}

}  // namespace assay::references
