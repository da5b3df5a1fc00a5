#include "harness/engine/accuracy/mistrusted_output.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

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

/// Whether `value_at(i)` is accepted for every element. Stops at the first refusal, so it is cheap for every
/// output that depends on its data.
bool accepts_all(const Acceptance& acceptance, const std::function<double(std::int64_t)>& value_at) {
  const std::int64_t allowed_tolerated = acceptance.allowed_tolerated();
  std::int64_t flips = 0, tolerated = 0;
  for (std::int64_t i = 0; i < acceptance.numel(); ++i) {
    const ElementVerdict verdict = acceptance.judge(i, value_at(i));
    if (verdict == ElementVerdict::Wrong) return false;
    if (verdict == ElementVerdict::Flip) ++flips;
    if (verdict == ElementVerdict::Tolerated && ++tolerated > allowed_tolerated) return false;
  }
  return flips == 0 || static_cast<double>(flips) <= acceptance.allowed_flips();
}

/// A constant within every element's interval, if there is one. When elements must equal their expected
/// values, it exists only if all of these are equal.
double best_constant(const Acceptance& acceptance) {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  for (std::int64_t i = 0; i < acceptance.numel() && low <= high; ++i) {
    const double value = acceptance.expected(i);
    if (std::isnan(value)) return value;
    const double bound = acceptance.bound(i);
    low = std::max(low, value - bound);
    high = std::min(high, value + bound);
  }
  if (std::isinf(low)) return low;
  const double middle = low + (high - low) / 2;
  return is_integer(acceptance.dtype()) ? std::floor(middle) : middle;
}

bool constant_passes(const Acceptance& acceptance) {
  if (acceptance.numel() < 2) return false;
  const double first = acceptance.expected(0);
  std::vector<double> candidates = {first};
  if (acceptance.output_class() == OutputClass::Banded) {
    candidates.insert(candidates.end(), {first - 1, first + 1});
  } else {
    // NaN passes where every bound is infinite.
    candidates.insert(candidates.end(),
                      {best_constant(acceptance), std::numeric_limits<double>::quiet_NaN()});
  }
  return std::ranges::any_of(candidates, [&](double constant) {
    return accepts_all(acceptance, [=](std::int64_t) { return constant; });
  });
}

bool copy_passes(const Acceptance& acceptance, std::span<const HostTensor> inputs) {
  return std::ranges::any_of(inputs, [&](const HostTensor& input) {
    return input.numel() == acceptance.numel() &&
           accepts_all(acceptance, [&](std::int64_t i) { return input.at(i); });
  });
}

bool shift_passes(const Acceptance& acceptance, std::int64_t by) {
  const std::int64_t count = acceptance.numel();
  if (count < 2) return false;
  return accepts_all(acceptance,
                     [&](std::int64_t i) { return acceptance.expected((i + by + count) % count); });
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

std::optional<std::string> trivial_answer(const TensorSpec& spec, const Acceptance& acceptance,
                                          std::span<const HostTensor> inputs) {
  const bool may_be_constant = !spec.constant_because.empty();
  const bool may_be_copy = !spec.copy_because.empty();
  if (!may_be_constant) {
    if (accepts_all(acceptance, [](std::int64_t) { return 0.0; })) return "all_zeros";
    if (constant_passes(acceptance)) return "constant";
    if (shift_passes(acceptance, 1) || shift_passes(acceptance, -1)) return "shifted";
  }
  if (!may_be_copy && !may_be_constant && copy_passes(acceptance, inputs)) return "copied_input";
  return std::nullopt;
}

bool accepts_copied_memory(const Acceptance& acceptance, const Physical& output,
                           std::span<const std::byte> memory) {
  if (memory.size() != static_cast<std::size_t>(output.bytes())) return false;
  const Dims& dims = output.dims();
  const auto size = static_cast<std::int64_t>(size_of(output.dtype()));
  // Element by element, because nearly every output refuses one of the first.
  return accepts_all(acceptance, [&](std::int64_t i) {
    const std::int64_t w = i % dims.w, h = i / dims.w % dims.h;
    const std::int64_t c = i / dims.w / dims.h % dims.c, n = i / dims.w / dims.h / dims.c;
    return element_at(output.dtype(), memory.data() + output.offset(n, c, h, w) * size);
  });
}

}  // namespace assay
