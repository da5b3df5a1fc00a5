#include "harness/engine/accuracy/trivial_answer.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

namespace assay {
namespace {

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
    candidates.push_back(best_constant(acceptance));
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
