#include "harness/engine/accuracy/saturation.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace assay {
namespace {

constexpr std::int64_t fewest_elements = 16;
constexpr double fewest_steps = 3;  // from the low end to the high one

/// The range of an integer output, if it is so small that values reach its ends.
std::optional<std::pair<double, double>> range_of(const TensorSpec& spec) {
  if (!is_integer(spec.dtype)) return std::nullopt;
  if (spec.domain.lo < spec.domain.hi) return std::pair{spec.domain.lo, spec.domain.hi};
  if (size_of(spec.dtype) > 1) return std::nullopt;
  return std::pair{static_cast<double>(lowest(spec.dtype)), static_cast<double>(highest(spec.dtype))};
}

template <class Integer>
std::int64_t count_at_ends(const HostTensor& tensor, double low, double high) {
  return std::ranges::count_if(tensor.as<Integer>(),
                               [=](Integer value) { return value <= low || value >= high; });
}

std::int64_t at_ends(const HostTensor& tensor, double low, double high) {
  if (tensor.dtype() == DType::I8) return count_at_ends<std::int8_t>(tensor, low, high);
  if (tensor.dtype() == DType::U8) return count_at_ends<std::uint8_t>(tensor, low, high);
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < tensor.numel(); ++i) {
    const double value = tensor.at(i);
    if (value <= low || value >= high) ++count;
  }
  return count;
}

}  // namespace

std::optional<Saturation> too_saturated(const TensorSpec& spec, const HostTensor& expected) {
  const auto range = range_of(spec);
  if (!range || range->second - range->first < fewest_steps) return std::nullopt;
  if (!spec.constant_because.empty() || !spec.ends_because.empty()) return std::nullopt;
  if (expected.numel() < fewest_elements) return std::nullopt;
  const auto [low, high] = *range;
  const double share =
      static_cast<double>(at_ends(expected, low, high)) / static_cast<double>(expected.numel());
  if (share <= most_saturated) return std::nullopt;
  return Saturation{share, low, high};
}

}  // namespace assay
