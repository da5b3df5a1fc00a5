#include "harness/base/error.h"
#include "harness/tensor/fill/fill_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace assay {

// The rules for float data. Integers become floats by IEEE operations in the order written, most of them
// exact, and never by a C library function, so that every compiler gives the same bits.

namespace {

constexpr float bell_scale = 2.6429103e-05F;  // 1 / the standard deviation of bell(), sqrt(3 / (2^32 - 1))

float largest(DType dtype) {
  return dtype == DType::F16 ? 65504.0F : std::numeric_limits<float>::max();
}

/// Returns a uniform value in [-1, 1), in steps of 2^-23.
float uniform(std::uint32_t bits) {
  return static_cast<float>(static_cast<std::int32_t>(bits) >> 8) * 0x1p-23F;
}

/// Returns a uniform value in [0, 1), in steps of 2^-24.
float fraction(std::uint32_t bits) {
  return static_cast<float>(bits >> 8) * 0x1p-24F;
}

float normal(Bits bits) {
  return static_cast<float>(bell(bits)) * bell_scale;
}

/// Returns +-m * 2^exponent with m in [1, 2) from the low 23 bits.
float compose(bool negative, int exponent, std::uint32_t mantissa) {
  const std::uint32_t sign = negative ? 0x80000000U : 0U;
  return std::bit_cast<float>(sign | static_cast<std::uint32_t>(exponent + 127) << 23 |
                              (mantissa & 0x7fffffU));
}

/// Returns an odd multiple of 2^-3, 2^-4 or 2^-5 below 8, so that x/s is a tie for the scale s of twice that
/// power.
float tie(Bits bits) {
  const int exponent = 3 + static_cast<int>(below(3, bits.b));
  const std::int64_t pairs = std::int64_t{8} << exponent;  // pairs of an odd and an even number in [-8, 8)
  const std::int64_t odd = 2 * below(static_cast<std::uint64_t>(pairs), bits.a) - pairs + 1;
  return static_cast<float>(odd) * compose(false, -exponent, 0);
}

Rule<float> saturate(const FillRequest& request) {
  const double asked = request.domain.hi == 0 ? 1024 : request.domain.hi;
  const float hi = static_cast<float>(std::min<double>(asked, largest(request.dtype)));
  const float limit = largest(request.dtype);
  return per_element<float>([hi, limit](Bits bits, std::int64_t) {
    if ((bits.a & 1U) == 0) return normal(bits);
    const float magnitude = std::min(hi * (0.25F + 1.75F * fraction(bits.b)), limit);
    return (bits.a & 2U) == 0 ? magnitude : -magnitude;
  });
}

Rule<float> wide(DType dtype) {
  const int end = dtype == DType::F16 ? 14 : 20;
  return per_element<float>([end](Bits bits, std::int64_t) {
    const int exponent = static_cast<int>(below(static_cast<std::uint64_t>(2 * end + 1), bits.a)) - end;
    return compose((bits.a & 1U) != 0, exponent, bits.b);
  });
}

Rule<float> outlier(const FillRequest& request) {
  return per_element<float>([request](Bits bits, std::int64_t index) {
    if (is_outlier(request, bits, index)) return (bits.b & 1U) == 0 ? 20.0F : -20.0F;
    return static_cast<float>(bell(bits)) * (0.05F * bell_scale);
  });
}

std::vector<float> special_values(DType dtype) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const bool half = dtype == DType::F16;
  const float denormal_min = half ? 0x1p-24F : 0x1p-149F;
  const float denormal_max = half ? 0x1p-14F - 0x1p-24F : 0x1p-126F - 0x1p-149F;
  const float normal_min = half ? 0x1p-14F : 0x1p-126F;
  const float huge = largest(dtype);
  return {nan,           infinity,   -infinity,   0.0F, -0.0F, denormal_min, -denormal_min, denormal_max,
          -denormal_max, normal_min, -normal_min, huge, -huge, huge / 2,     -huge / 2};
}

/// Gives normal values; every eighth is special, and a tensor with enough elements has each special value.
Rule<float> special(const FillRequest& request) {
  const std::vector<float> values = special_values(request.dtype);
  const auto count = static_cast<std::int64_t>(values.size());
  return per_element<float>(
      [=, numel = request.numel, chosen = request.chosen](Bits bits, std::int64_t index) {
        const std::int64_t place = index >= chosen ? index - chosen : index - chosen + numel;
        if (place < count && numel >= 2 * count) return values[static_cast<std::size_t>(place)];
        if ((bits.a & 7U) == 0) return values[static_cast<std::size_t>(below(values.size(), bits.b))];
        return normal(bits);
      });
}

/// Returns NaN, infinity or minus infinity.
float non_finite(std::uint32_t bits) {
  const float infinity = std::numeric_limits<float>::infinity();
  if (bits % 3 == 0) return std::numeric_limits<float>::quiet_NaN();
  return bits % 3 == 1 ? infinity : -infinity;
}

/// Gives runs of eight kinds, one after another; fill.cpp lists them.
Rule<float> mixed(const FillRequest& request) {
  const float tiny = request.dtype == DType::F16 ? 0x1p-12F : 0x1p-30F;
  return per_element<float>([tiny, run = request.run](Bits bits, std::int64_t index) {
    switch (index / run % 8) {
      case 1:
        return 0.0F;
      case 2:
        return 0.3F;
      case 3:
        return normal(bits) * tiny;
      case 4:
        if (index % run == run / 2) return (bits.b & 1U) == 0 ? 20.0F : -20.0F;
        return normal(bits) * 0.05F;
      case 5:
        return (bits.a & 3U) == 0 ? non_finite(bits.b) : normal(bits);
      case 6:
        return -0.5F - std::abs(normal(bits));
      case 7:
        return non_finite(bits.b);
      default:
        return normal(bits);
    }
  });
}

/// Returns a quiet NaN of either sign, with random bits among those that float16 has too. A kernel that
/// compares with one particular NaN, or ignores the sign, misses it.
float any_nan(std::uint32_t bits) {
  return std::bit_cast<float>(0x7fc00000U | (bits & 0x803fe000U));
}

/// Gives normal values; every fourth is a NaN, and a tensor with enough elements has one with its sign set.
Rule<float> nans(const FillRequest& request) {
  return per_element<float>([request](Bits bits, std::int64_t index) {
    if (index == request.chosen && request.numel >= 8) return any_nan(bits.b | 0x80000000U);
    return (bits.a & 3U) == 0 ? any_nan(bits.b) : normal(bits);
  });
}

/// Gives small values between a large one of either sign at the beginning and the end of each row; every
/// other row has a non-finite value before its last.
Rule<float> ends(const FillRequest& request) {
  return per_element<float>([row = request.row](Bits bits, std::int64_t index) {
    const std::int64_t column = index % row;
    const bool is_even = index / row % 2 == 0;
    if (!is_even && column > 1 && column + 2 == row) return non_finite(bits.b);
    if (column > 0 && column + 1 < row) return normal(bits) * 0.05F;
    const float magnitude = 10.0F + 10.0F * fraction(bits.b);
    return is_even == (column == 0) ? magnitude : -magnitude;  // the last values have both signs
  });
}

/// Keeps what a rule makes within the domain's largest magnitude. NaN stays: it compares with nothing.
Rule<float> within_magnitude(const FillRequest& request, Rule<float> rule) {
  if (request.domain.most == 0) return rule;
  const auto most =
      static_cast<float>(std::min<double>(request.domain.most, static_cast<double>(largest(request.dtype))));
  return
      [rule = std::move(rule), most](std::span<const Bits> bits, std::int64_t first, std::span<float> out) {
        rule(bits, first, out);
        for (float& value : out) value = std::clamp(value, -most, most);
      };
}

/// Values that are not finite become `hiding`: for scores, -infinity hides.
Rule<float> hiding(Rule<float> rule, float hiding) {
  return
      [rule = std::move(rule), hiding](std::span<const Bits> bits, std::int64_t first, std::span<float> out) {
        rule(bits, first, out);
        for (float& value : out) value = std::isfinite(value) ? value : hiding;
      };
}

Rule<float> within_domain(const FillRequest& request, Rule<float> rule) {
  if (!request.domain.hides) return within_magnitude(request, std::move(rule));
  // NaN passes the magnitude, and only it.
  Rule<float> kept = hiding(std::move(rule), std::numeric_limits<float>::quiet_NaN());
  return hiding(within_magnitude(request, std::move(kept)), -std::numeric_limits<float>::infinity());
}

/// Returns the value of `fill: constant`, which may be NaN or infinite; a finite one must stay finite in the
/// dtype.
float constant_data(const FillRequest& request) {
  const double value = request.value.value_or(1);
  if (std::isfinite(value) && std::abs(value) > static_cast<double>(largest(request.dtype))) {
    throw Error(fmt::format("fill constant: the value {} is beyond the largest {}, {}", value,
                            name_of(request.dtype), largest(request.dtype)));
  }
  return static_cast<float>(value);
}

Rule<float> rule_of_any_value(const FillRequest& request) {
  switch (request.kind) {
    case FillKind::Uniform:
      return per_element<float>([](Bits bits, std::int64_t) { return uniform(bits.a); });
    case FillKind::Ties:
      return per_element<float>([](Bits bits, std::int64_t) { return tie(bits); });
    case FillKind::Saturate:
      return saturate(request);
    case FillKind::Wide:
      return wide(request.dtype);
    case FillKind::Constant:
      return always(constant_data(request));
    case FillKind::Zero:
      return always(0.0F);
    case FillKind::Outlier:
      return outlier(request);
    case FillKind::Special:
      return special(request);
    case FillKind::Mixed:
      return mixed(request);
    case FillKind::Nan:
      return nans(request);
    case FillKind::Ends:
      return ends(request);
    default:
      return per_element<float>([](Bits bits, std::int64_t) { return normal(bits); });
  }
}

}  // namespace

Rule<float> float_data_rule(const FillRequest& request) {
  return within_domain(request, rule_of_any_value(request));
}

// The rules for integer tensors: data, zero points, indices.

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
