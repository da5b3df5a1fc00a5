#include "references/common/real_output.h"

#include "harness/base/parallel.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace assay::references {

double lowest_bit(double value) {
  int exponent = 0;
  const auto mantissa = static_cast<std::int64_t>(std::ldexp(std::frexp(value, &exponent), 53));
  return std::ldexp(1.0, exponent - 53 + std::countr_zero(static_cast<std::uint64_t>(mantissa)));
}

float ulp_of(Half value) {
  constexpr int mantissa_bits = 10;
  constexpr int bias = 15;
  const int exponent = (value.bits >> mantissa_bits) & 31;
  if (exponent == 31) return 0;
  const int ulp_exponent = std::max(exponent, 1) - bias - mantissa_bits;
  return std::bit_cast<float>(static_cast<std::uint32_t>(ulp_exponent + 127) << 23);
}

std::vector<float> ulp_bounds(std::span<const Half> values) {
  std::vector<float> bound(values.size());
  parallel_for(static_cast<std::int64_t>(values.size()), cheap_grain,
               [&](std::int64_t first, std::int64_t last) {
                 for (std::int64_t i = first; i < last; ++i) bound[i] = ulp_of(values[i]);
               });
  return bound;
}

namespace {

constexpr double least_magnitude = 0x1p-90;
constexpr double smallest_normal = 0x1p-126;

/// The float32 next to a value that is not negative, never below it where a float32 can be above it.
float rounded_up(double value) {
  constexpr float most = std::numeric_limits<float>::max();
  if (value >= most) return most;
  const auto nearest = static_cast<float>(value);
  const auto next = std::bit_cast<float>(std::bit_cast<std::uint32_t>(nearest) + 1);
  return nearest < value ? next : nearest;
}

}  // namespace

BoundedOutput::BoundedOutput(DType dtype, const Shape& shape, Flushed flushed)
    : dtype_(dtype), flushed_(flushed) {
  expected_.values = HostTensor::uninitialized(DType::F64, shape);
  const auto elements = static_cast<std::size_t>(expected_.values.numel());
  expected_.magnitude.resize(elements);
  if (dtype == DType::F16 || flushed == Flushed::Absolute) expected_.bound.resize(elements);
}

void BoundedOutput::set(std::int64_t index, double value, double magnitude, double absolute) {
  const auto i = static_cast<std::size_t>(index);
  auto stored = static_cast<float>(value);
  double bound = absolute + smallest_normal;
  if (dtype_ == DType::F16) {
    const Half half = to_half(stored);
    bound = absolute + static_cast<double>(ulp_of(half));
    stored = to_float(half);
  }
  const bool is_finite = std::isfinite(stored);
  expected_.values.as<double>()[i] = is_finite ? value : stored;
  const double least = flushed_ == Flushed::Relative ? least_magnitude : 0;
  expected_.magnitude[i] = is_finite ? rounded_up(std::max(magnitude, least)) : 0;
  if (expected_.bound.empty()) return;
  const bool may_be_nan = std::isinf(absolute);
  expected_.bound[i] = may_be_nan  ? std::numeric_limits<float>::infinity()
                       : is_finite ? rounded_up(bound)
                                   : 0;
}

void BoundedOutput::set_sum(std::int64_t index, double sum) {
  const auto i = static_cast<std::size_t>(index);
  expected_.sums[i] = std::isfinite(expected_.values.as<double>()[i]) ? rounded_up(sum) : 0;
}

void BoundedOutput::set_exact(std::int64_t index, double value) {
  const auto i = static_cast<std::size_t>(index);
  expected_.values.as<double>()[i] = value;
  expected_.magnitude[i] = 0;
  if (!expected_.bound.empty()) expected_.bound[i] = 0;
}

}  // namespace assay::references
