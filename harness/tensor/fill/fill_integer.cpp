#include "harness/base/error.h"
#include "harness/tensor/fill/fill_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

// The rules for integer tensors: data, zero points, indices.

namespace assay {
namespace {

struct Range {
  std::int64_t lo = 0, hi = 0;

  std::uint64_t count() const { return static_cast<std::uint64_t>(hi - lo) + 1; }
  std::int64_t clamp(std::int64_t value) const { return std::clamp(value, lo, hi); }
  bool contains(double value) const {
    return value >= static_cast<double>(lo) && value <= static_cast<double>(hi);
  }
  std::int64_t uniform(std::uint32_t bits) const { return lo + below(count(), bits); }
};

/// Returns the domain as integers. Throws Error if it is empty or the dtype cannot represent it.
Range range_of(const FillRequest& request) {
  const FillDomain& domain = request.domain;
  const Range all{lowest(request.dtype), highest(request.dtype)};
  const bool integral = std::floor(domain.lo) == domain.lo && std::floor(domain.hi) == domain.hi;
  if (!integral || !all.contains(domain.lo) || !all.contains(domain.hi) || domain.lo > domain.hi) {
    throw Error(fmt::format("filling a tensor of dtype {}: [{}, {}] is not a range of its integers",
                            name_of(request.dtype), domain.lo, domain.hi));
  }
  return {static_cast<std::int64_t>(domain.lo), static_cast<std::int64_t>(domain.hi)};
}

Range data_range(const FillRequest& request) {
  if (request.domain.lo == 0 && request.domain.hi == 0)
    return {lowest(request.dtype), highest(request.dtype)};
  return range_of(request);
}

Rule<std::int64_t> uniform(Range range) {
  return per_element<std::int64_t>([range](Bits bits, std::int64_t) { return range.uniform(bits.a); });
}

Rule<std::int64_t> constant(const FillRequest& request, Range range, std::int64_t fallback) {
  if (!request.value) return always(range.clamp(fallback));
  const double value = *request.value;
  if (!range.contains(value) || std::floor(value) != value) {
    throw Error(fmt::format("fill constant: the value must be an integer between {} and {}, got {}", range.lo,
                            range.hi, value));
  }
  return always(static_cast<std::int64_t>(value));
}

Rule<std::int64_t> zero(Range range) {
  return always(range.clamp(0));
}

std::int64_t middle(Range range) {
  return range.lo + (range.hi - range.lo) / 2;
}

/// Gives a bell with its third standard deviation at the ends of the range; the little beyond is clamped.
Rule<std::int64_t> normal(Range range) {
  constexpr std::int64_t three_sigma = 113512;  // 3 * bell_end / sqrt(12)
  return per_element<std::int64_t>([range](Bits bits, std::int64_t) {
    const std::int64_t place =
        std::clamp<std::int64_t>(bell(bits), -three_sigma, three_sigma - 1) + three_sigma;
    return range.lo + place * static_cast<std::int64_t>(range.count()) / (2 * three_sigma);
  });
}

Rule<std::int64_t> saturate(Range range) {
  return per_element<std::int64_t>([range](Bits bits, std::int64_t) {
    if ((bits.b & 1U) == 0) return range.uniform(bits.a);
    return (bits.b & 2U) == 0 ? range.lo : range.hi;
  });
}

/// Gives small values around zero (or near the range's end closest to it), and some at the ends.
Rule<std::int64_t> outlier(const FillRequest& request, Range range) {
  const Range small{range.clamp(-4), range.clamp(4)};
  const std::int64_t low = range.lo < small.lo ? range.lo : range.hi;
  const std::int64_t high = range.hi > small.hi ? range.hi : range.lo;
  return per_element<std::int64_t>([=](Bits bits, std::int64_t index) {
    if (is_outlier(request, bits, index)) return (bits.b & 1U) == 0 ? low : high;
    return small.uniform(bits.b);
  });
}

}  // namespace

Rule<std::int64_t> integer_data_rule(const FillRequest& request) {
  const Range range = data_range(request);
  switch (request.kind) {
    case FillKind::Normal:
      return normal(range);
    case FillKind::Saturate:
    case FillKind::Special:
      return saturate(range);
    case FillKind::Constant:
      return constant(request, range, middle(range) + 1);
    case FillKind::Zero:
      return zero(range);
    case FillKind::Outlier:
      return outlier(request, range);
    default:
      return uniform(range);
  }
}

Rule<std::int64_t> zero_point_rule(const FillRequest& request) {
  const Range range = range_of(request);
  if (request.kind == FillKind::Zero) return zero(range);
  if (request.kind == FillKind::Constant) return constant(request, range, 3);
  // Zero points that are all zero would hide a kernel that ignores them.
  const std::int64_t nonzero = range.hi > 0 ? range.hi : range.lo;
  return per_element<std::int64_t>([=, chosen = request.chosen](Bits bits, std::int64_t index) {
    const std::int64_t value = range.uniform(bits.a);
    return value == 0 && index == chosen ? nonzero : value;
  });
}

Rule<std::int64_t> index_rule(const FillRequest& request) {
  const Range range = range_of(request);
  if (request.kind == FillKind::Zero) return zero(range);
  if (request.kind == FillKind::Constant) return constant(request, range, middle(range) + 1);
  return uniform(range);
}

}  // namespace assay
