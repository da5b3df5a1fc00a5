#include "harness/engine/accuracy/output_check.h"

#include "harness/base/parallel.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <stdexcept>

namespace assay {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t judge_grain = 1 << 16;

/// Smallest normal number of a float dtype: a device may flush results below it to zero.
double smallest_normal(DType dtype) {
  return dtype == DType::F32 ? 0x1p-126 : 0;
}

bool same_float(double expected, double value, DType dtype) {
  if (std::isnan(expected)) return std::isnan(value);
  if (expected == value) return std::signbit(expected) == std::signbit(value) || dtype == DType::F64;
  return value == 0 && std::fabs(expected) < smallest_normal(dtype);
}

bool within_bound(double expected, double value, double bound) {
  if (std::isnan(expected)) return std::isnan(value);
  return expected == value || absolute_error(expected, value) <= bound;
}

double bound_of(const Expected& expected, std::int64_t index, double scale) {
  if (expected.output_class != OutputClass::Bounded || expected.bound.empty()) return 0;
  return expected.bound[static_cast<std::size_t>(index)] * scale;
}

/// The share of its bound that an element spent; infinity for a wrong element that has none.
double share_spent(const Expected& expected, std::int64_t index, double error, bool accepted, double scale) {
  if (expected.output_class != OutputClass::Bounded) return accepted ? 0 : infinity;
  if (error == 0) return 0;
  const double bound = bound_of(expected, index, scale);
  return bound > 0 ? error / bound : infinity;
}

void judge_element(const Expected& expected, const HostTensor& got, std::int64_t i, double scale,
                   OutputCheck& part) {
  const double want = expected.values.at(i);
  const double value = got.at(i);
  const double error = absolute_error(want, value);
  part.max_abs_err = std::max(part.max_abs_err, error);
  const bool accepted = accepts(expected, i, value, scale);
  if (!accepted) {
    ++part.mismatches;
    if (!part.first_bad) part.first_bad = i;
  }
  if (expected.output_class == OutputClass::Banded && accepted && value != want) ++part.flips;
  part.err_over_bound = std::max(part.err_over_bound, share_spent(expected, i, error, accepted, scale));
}

void merge(OutputCheck& whole, const OutputCheck& part) {
  whole.mismatches += part.mismatches;
  whole.flips += part.flips;
  whole.max_abs_err = std::max(whole.max_abs_err, part.max_abs_err);
  whole.err_over_bound = std::max(whole.err_over_bound, part.err_over_bound);
  if (part.first_bad && (!whole.first_bad || *part.first_bad < *whole.first_bad))
    whole.first_bad = part.first_bad;
}

void judge_flips(const Expected& expected, double scale, OutputCheck& whole) {
  if (expected.output_class != OutputClass::Banded) return;
  const double allowed = allowed_flips(expected, scale);
  whole.too_many_flips = whole.mismatches == 0 && static_cast<double>(whole.flips) > allowed;
  if (whole.mismatches == 0 && whole.flips > 0) {
    whole.err_over_bound = allowed > 0 ? static_cast<double>(whole.flips) / allowed : infinity;
  }
}

}  // namespace

double absolute_error(double expected, double got) {
  if (std::isnan(expected) && std::isnan(got)) return 0;
  if (expected == got) return 0;
  const double error = std::fabs(got - expected);
  return std::isnan(error) ? infinity : error;
}

bool accepts(const Expected& expected, std::int64_t index, double value, double scale) {
  const double want = expected.values.at(index);
  switch (expected.output_class) {
    case OutputClass::Exact:
      return is_float(expected.values.dtype()) ? same_float(want, value, expected.values.dtype())
                                               : want == value;
    case OutputClass::Banded: {
      if (want == value) return true;
      const int other =
          expected.band.empty() || scale == 0 ? 0 : expected.band[static_cast<std::size_t>(index)];
      return other != 0 && value == want + other;
    }
    case OutputClass::Bounded:
      return within_bound(want, value, bound_of(expected, index, scale));
  }
  throw std::logic_error("accepts: unknown output class");
}

double allowed_flips(const Expected& expected, double scale) {
  const double mean = expected.expected_flips;
  return scale * (mean > 0 ? mean + 6 * std::sqrt(mean) + 3 : 0);
}

OutputCheck check_output(const Expected& expected, const HostTensor& got, double scale) {
  if (got.dtype() != expected.values.dtype() || got.shape() != expected.values.shape()) {
    throw std::logic_error("judge: the answer's dtype or shape is not the reference's");
  }
  OutputCheck whole;
  std::mutex mutex;
  parallel_for(got.numel(), judge_grain, [&](std::int64_t first, std::int64_t last) {
    if (same_bytes(expected.values, got, first, last)) return;
    OutputCheck part;
    for (std::int64_t i = first; i < last; ++i) judge_element(expected, got, i, scale, part);
    const std::lock_guard lock(mutex);
    merge(whole, part);
  });
  judge_flips(expected, scale, whole);
  whole.pass = whole.mismatches == 0 && !whole.too_many_flips;
  return whole;
}

}  // namespace assay
