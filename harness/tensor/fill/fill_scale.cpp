#include "harness/base/error.h"
#include "harness/tensor/fill/fill_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

// The rules for float quantization parameters: scales and float zero points.

namespace assay {
namespace {

struct ScaleRange {
  double lo = 0, hi = 0;
};

/// Returns the exponent of the power of two at or below `value` > 0.
int floor_exponent(double value) {
  int exponent = 0;
  std::frexp(value, &exponent);
  return exponent - 1;
}

/// Returns the exponent of the power of two at or above `value` > 0.
int ceil_exponent(double value) {
  const int exponent = floor_exponent(value);
  return std::ldexp(1.0, exponent) == value ? exponent : exponent + 1;
}

/// Returns the domain with its defaults, limited to the finite and normal values of the dtype.
ScaleRange scale_range(const FillRequest& request) {
  const bool half = request.dtype == DType::F16;
  const ScaleRange possible = half ? ScaleRange{0x1p-14, 65504} : ScaleRange{0x1p-126, 0x1.fffffep127};
  const double lo = request.domain.lo == 0 ? 0x1p-8 : request.domain.lo;
  const double hi = request.domain.hi == 0 ? 0x1p-2 : request.domain.hi;
  if (!(lo > 0) || !(hi >= lo) || !(hi >= possible.lo) || !(lo <= possible.hi)) {
    throw Error(fmt::format("filling scales of dtype {}: [{}, {}] is not a range of finite values above 0",
                            name_of(request.dtype), lo, hi));
  }
  return {std::max(lo, possible.lo), std::min(hi, possible.hi)};
}

/// Returns the range of `wide`, which exceeds the default domain but not one that the op declares.
ScaleRange wide_range(const FillRequest& request) {
  const ScaleRange range = scale_range(request);
  const ScaleRange wide{request.domain.lo == 0 ? 0x1p-12 : std::max(range.lo, 0x1p-12),
                        request.domain.hi == 0 ? 0x1p4 : std::min(range.hi, 0x1p4)};
  return wide.lo <= wide.hi ? wide : range;
}

/// Gives a random octave, then a uniform value in the part of it that is in the range.
Rule<float> octaves(ScaleRange range) {
  const int lowest = floor_exponent(range.lo);
  const int highest = std::max(ceil_exponent(range.hi) - 1, lowest);
  const auto count = static_cast<std::uint64_t>(highest - lowest + 1);
  return per_element<float>([=](Bits bits, std::int64_t) {
    const int exponent = lowest + static_cast<int>(below(count, bits.a));
    const double begin = std::max(range.lo, std::ldexp(1.0, exponent));
    const double end = std::min(range.hi, std::ldexp(1.0, exponent + 1));
    return static_cast<float>(begin + (end - begin) * (bits.b * 0x1p-32));
  });
}

/// Gives 2^-4, 2^-3 and 2^-2 if they are in the range, else the nearest power of two that is.
Rule<float> powers_of_two(ScaleRange range) {
  const int lowest = ceil_exponent(range.lo);
  const int highest = floor_exponent(range.hi);
  if (lowest > highest) return always(static_cast<float>(std::clamp(0x1p-3, range.lo, range.hi)));
  const int first = std::clamp(-4, lowest, highest);
  const int last = std::clamp(-2, lowest, highest);
  const auto count = static_cast<std::uint64_t>(last - first + 1);
  return per_element<float>([=](Bits bits, std::int64_t) {
    return static_cast<float>(std::ldexp(1.0, first + static_cast<int>(below(count, bits.a))));
  });
}

Rule<float> constant(const FillRequest& request, ScaleRange range) {
  if (request.kind == FillKind::Zero || !request.value) {
    return always(static_cast<float>(std::clamp(0x1p-4, range.lo, range.hi)));
  }
  const double value = *request.value;
  const double largest = request.dtype == DType::F16 ? 65504 : 0x1.fffffep127;
  const double smallest = request.dtype == DType::F16 ? 0x1p-24 : 0x1p-149;
  if (!(value >= smallest) || !(value <= largest)) {
    throw Error(fmt::format("fill constant: a scale must be finite and greater than 0 as {}, got {}",
                            name_of(request.dtype), value));
  }
  return always(static_cast<float>(value));
}

float clamp_to(ScaleRange range, double value) {
  return static_cast<float>(std::clamp(value, range.lo, range.hi));
}

Rule<float> constant_zero_point(const FillRequest& request, ScaleRange range) {
  const double value = request.value.value_or(clamp_to(range, 3));
  if (!(value >= range.lo) || !(value <= range.hi)) {
    throw Error(fmt::format("fill constant: a zero point must be between {} and {}, got {}", range.lo,
                            range.hi, value));
  }
  return always(static_cast<float>(value));
}

}  // namespace

Rule<float> scale_rule(const FillRequest& request) {
  const ScaleRange range = scale_range(request);
  switch (request.kind) {
    case FillKind::Ties:
      return powers_of_two(range);
    case FillKind::Saturate:
      return octaves({range.lo, std::min(range.hi, 4 * range.lo)});
    case FillKind::Wide:
      return octaves(wide_range(request));
    case FillKind::Constant:
    case FillKind::Zero:
      return constant(request, range);
    default:
      return octaves(range);
  }
}

Rule<float> float_zero_point_rule(const FillRequest& request) {
  const ScaleRange range{request.domain.lo, request.domain.hi};
  if (!(range.lo <= range.hi) || std::max(std::abs(range.lo), std::abs(range.hi)) > 0x1p20) {
    throw Error(
        fmt::format("filling float zero points: [{}, {}] is not a range within +-2^20", range.lo, range.hi));
  }
  if (request.kind == FillKind::Zero) return always(clamp_to(range, 0));
  if (request.kind == FillKind::Constant) return constant_zero_point(request, range);
  const auto lowest = static_cast<std::int64_t>(std::ceil(range.lo * 16));
  const auto highest = static_cast<std::int64_t>(std::floor(range.hi * 16));
  if (lowest > highest) return always(static_cast<float>(range.lo));
  // Zero points that are all zero would hide a kernel that ignores them.
  const std::int64_t nonzero = highest > 0 ? highest : lowest;
  const auto count = static_cast<std::uint64_t>(highest - lowest + 1);
  return per_element<float>([=, chosen = request.chosen](Bits bits, std::int64_t index) {
    const std::int64_t steps = lowest + below(count, bits.a);
    return static_cast<float>(steps == 0 && index == chosen ? nonzero : steps) * 0x1p-4F;
  });
}

}  // namespace assay
