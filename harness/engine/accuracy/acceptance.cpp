#include "harness/engine/accuracy/acceptance.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace assay {
namespace {

/// The smallest normal number of a float dtype: a device may flush smaller results to zero.
double smallest_normal(DType dtype) {
  return dtype == DType::F32 ? 0x1p-126 : 0;
}

bool same_float(double expected, double value, DType dtype) {
  if (std::isnan(expected)) return std::isnan(value);
  if (expected == value) return std::signbit(expected) == std::signbit(value);
  return value == 0 && std::fabs(expected) < smallest_normal(dtype);
}

bool within_bound(double expected, double value, double bound) {
  if (std::isnan(expected)) return std::isnan(value);
  return expected == value || absolute_error(expected, value) <= bound;
}

/// An entry of a list that may be empty; then 0.
double entry(const std::vector<float>& list, std::int64_t index) {
  return list.empty() ? 0 : list[static_cast<std::size_t>(index)];
}

}  // namespace

Acceptance::Acceptance(const TensorSpec& spec, const Expected& expected, const AcceptanceTerms& terms)
    : expected_(&expected),
      values_(terms.file != nullptr ? terms.file : &expected.values),
      class_(spec.output_class),
      dtype_(spec.dtype),
      unit_error_(terms.unit_error),
      tolerance_(terms.tolerance),
      is_loosened_(tolerance_.has_allowance() && (terms.file != nullptr || class_ == OutputClass::Bounded)) {
  if (class_ != OutputClass::Banded) return;
  const bool has_range = spec.domain.lo < spec.domain.hi;
  lowest_ = has_range ? spec.domain.lo : static_cast<double>(lowest(dtype_));
  highest_ = has_range ? spec.domain.hi : static_cast<double>(highest(dtype_));
  expected_flips_ = count_expected_flips();
}

Acceptance Acceptance::without_file() const {
  Acceptance own = *this;
  own.values_ = &expected_->values;
  own.is_loosened_ = tolerance_.has_allowance() && class_ == OutputClass::Bounded;
  return own;
}

ElementVerdict Acceptance::judge(std::int64_t index, double value) const {
  const double want = expected(index);
  if (is_right(index, want, value)) return ElementVerdict::Right;
  if (class_ == OutputClass::Banded && is_flip(index, want, value)) return ElementVerdict::Flip;
  if (is_loosened_ && absolute_error(want, value) <= tolerance_bound(want)) return ElementVerdict::Tolerated;
  return ElementVerdict::Wrong;
}

bool Acceptance::is_right(std::int64_t index, double want, double value) const {
  if (class_ == OutputClass::Bounded) return within_bound(want, value, class_bound(index));
  return is_float(dtype_) ? same_float(want, value, dtype_) : want == value;
}

/// The impl's value before rounding is within e of the reference's, so both integers next to a tie are right
/// if the tie is closer than e.
bool Acceptance::is_flip(std::int64_t index, double want, double value) const {
  if (std::fabs(value - want) != 1 || value < lowest_ || value > highest_) return false;
  const double tie = (want + value) / 2;
  const double distance = std::fabs(expected_->unrounded[static_cast<std::size_t>(index)] - tie);
  return distance < error_before_rounding(index);
}

double Acceptance::error_before_rounding(std::int64_t index) const {
  return unit_error_ * entry(expected_->magnitude, index) * tolerance_.scale;
}

double Acceptance::class_bound(std::int64_t index) const {
  if (class_ != OutputClass::Bounded) return 0;
  const double whole = entry(expected_->bound, index) + unit_error_ * entry(expected_->magnitude, index);
  return whole * tolerance_.scale;
}

double Acceptance::tolerance_bound(double want) const {
  if (!is_loosened_ || !std::isfinite(want)) return 0;
  const double of_value = tolerance_.abs + tolerance_.rel * std::fabs(want);
  const double of_places = tolerance_.ulp * unit_in_last_place(dtype_, want);
  const double of_integers = is_integer(dtype_) ? tolerance_.off_by : 0;
  return std::max({of_value, of_places, of_integers});
}

double Acceptance::bound(std::int64_t index) const {
  return std::max(class_bound(index), tolerance_bound(expected(index)));
}

double Acceptance::count_expected_flips() const {
  double sum = 0;
  for (std::int64_t i = 0; i < numel(); ++i) {
    const double unrounded = expected_->unrounded[static_cast<std::size_t>(i)];
    if (unrounded < lowest_ || unrounded > highest_) continue;  // clamped: no tie is near
    sum += std::min(1.0, 2 * error_before_rounding(i));
  }
  return sum;
}

double Acceptance::allowed_flips() const {
  return expected_flips_ > 0 ? expected_flips_ + 6 * std::sqrt(expected_flips_) + 3 : 0;
}

std::int64_t Acceptance::allowed_tolerated() const {
  if (!is_loosened_) return 0;
  return static_cast<std::int64_t>(std::floor(tolerance_.share * static_cast<double>(numel())));
}

}  // namespace assay
