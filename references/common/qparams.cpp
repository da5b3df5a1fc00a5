#include "references/common/qparams.h"

#include "harness/base/error.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace assay::references {
namespace {

std::size_t checked_axis(const Shape& shape, std::int64_t axis) {
  const auto rank = static_cast<std::int64_t>(shape.size());
  if (axis < -rank || axis >= rank) {
    throw ParameterError("axis", "axis is " + std::to_string(axis) + ", but shape " + to_string(shape) +
                                     " takes " + std::to_string(-rank) + " to " + std::to_string(rank - 1));
  }
  return static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
}

constexpr float smallest_row_scale = 6.1e-5f;
constexpr float scale_of_empty_row = 0.1f;

/// A range in float32: no step may keep more digits.
struct Range {
  float low, high;
};

float steps(const QParamsLimits& limits) {
  return static_cast<float>(limits.quant_max - limits.quant_min);
}

std::int32_t rounded_in_range(float value, const QParamsLimits& limits) {
  const float clamped =
      std::clamp(value, static_cast<float>(limits.quant_min), static_cast<float>(limits.quant_max));
  return static_cast<std::int32_t>(std::nearbyint(clamped));
}

QParams asymmetric(const QParamsLimits& limits, Range range) {
  const float width = range.high - range.low;
  const float scale = std::max(width / steps(limits), limits.eps);
  const float low_steps = std::nearbyint(range.low / scale);
  return {scale, rounded_in_range(static_cast<float>(limits.quant_min) - low_steps, limits)};
}

QParams symmetric(const QParamsLimits& limits, Range range) {
  const float largest = std::max(-range.low, range.high);
  return {std::max(largest / (steps(limits) * 0.5f), limits.eps), middle(limits)};
}

QParams symmetric_no_clipping_err(const QParamsLimits& limits, Range range) {
  const float by_low = range.low / static_cast<float>(limits.quant_min);
  const float by_high = range.high / static_cast<float>(limits.quant_max);
  return {std::max({by_low, by_high, limits.eps}), middle(limits)};
}

QParams per_token(const QParamsLimits& limits, Range range) {
  const auto quant_min = static_cast<float>(limits.quant_min);
  const auto quant_max = static_cast<float>(limits.quant_max);
  const float width = range.high - range.low;
  const float scale = std::max(width / steps(limits), limits.eps);
  const float low_steps = range.low / scale;
  const float high_steps = range.high / scale;
  const float error_of_low = quant_min + low_steps;
  const float error_of_high = quant_max + high_steps;
  const float errors = error_of_low + error_of_high;
  return {scale, rounded_in_range(errors > 0 ? quant_min - low_steps : quant_max - high_steps, limits)};
}

/// Raises the scale to the smallest one, and one end or both ends of the range with it.
float raise_scale(float scale, Range& range, const QParamsLimits& limits) {
  if (range.low == 0) {
    range.high = smallest_row_scale * steps(limits);
  } else if (range.high == 0) {
    range.low = -(smallest_row_scale * steps(limits));
  } else {
    const float factor = smallest_row_scale / scale;
    range.low *= factor;
    range.high *= factor;
  }
  return smallest_row_scale;
}

QParams per_row(const QParamsLimits& limits, Range range) {
  const auto quant_min = static_cast<float>(limits.quant_min);
  const auto quant_max = static_cast<float>(limits.quant_max);
  const float width = range.high - range.low;
  float scale = width / steps(limits);
  if (scale < std::numeric_limits<float>::min()) scale = scale_of_empty_row;
  if (scale < smallest_row_scale) scale = raise_scale(scale, range, limits);
  const float low_steps = range.low / scale;
  const float high_steps = range.high / scale;
  const float error_of_low = std::abs(quant_min) - std::abs(low_steps);
  const float error_of_high = std::abs(quant_max) - std::abs(high_steps);
  const float zero_point = error_of_low < error_of_high ? quant_min - low_steps : quant_max - high_steps;
  return {scale, rounded_in_range(zero_point, limits)};
}

}  // namespace

std::vector<std::int64_t> block_size_of(Granularity granularity, const Shape& shape, std::int64_t axis) {
  std::vector<std::int64_t> block = shape;
  if (granularity == Granularity::PerToken) {
    block.assign(shape.size(), 1);
    block.back() = shape.back();
  } else if (granularity == Granularity::PerChannel) {
    block[checked_axis(shape, axis)] = 1;
  }
  return block;
}

Params affine_params_of(Granularity granularity, const Params& named) {
  const bool has_axis = granularity == Granularity::PerChannel;
  Params params = named;
  params.set("block_size",
             block_size_of(granularity, named.ints("shape"), has_axis ? named.integer("axis") : 0));
  params.set("zero_point_domain", std::string("int"));
  return params;
}

std::int32_t middle(const QParamsLimits& limits) {
  return (limits.quant_max + limits.quant_min + 1) / 2;
}

QParams choose_qparams(QParamsRule rule, const QParamsLimits& limits, float low, float high) {
  switch (rule) {
    case QParamsRule::Asymmetric:
      return asymmetric(limits, {low, high});
    case QParamsRule::Symmetric:
      return symmetric(limits, {low, high});
    case QParamsRule::SymmetricNoClippingErr:
      return symmetric_no_clipping_err(limits, {low, high});
    case QParamsRule::PerToken:
      return per_token(limits, {low, high});
    case QParamsRule::PerRow:
      return per_row(limits, {low, high});
  }
  return {};
}

}  // namespace assay::references
