#include "harness/engine/accuracy/output_check.h"

#include "harness/base/parallel.h"

#include <algorithm>
#include <limits>
#include <mutex>
#include <stdexcept>

namespace assay {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t judge_grain = 1 << 16;

/// The result of some of the elements.
struct Part {
  OutputCheck check;
  std::optional<std::int64_t> first_tolerated;
};

void note_first(std::optional<std::int64_t>& first, std::optional<std::int64_t> index) {
  if (index && (!first || *index < *first)) first = index;
}

/// The error of an element divided by its bound; infinity for a wrong element without a bound.
double share_spent(const Acceptance& acceptance, std::int64_t index, double error, ElementVerdict verdict) {
  if (verdict == ElementVerdict::Flip || (verdict == ElementVerdict::Right && error == 0)) return 0;
  const double bound = acceptance.bound(index);
  if (verdict == ElementVerdict::Wrong) return bound > 0 && error > 0 ? error / bound : infinity;
  // An element is right without a bound if it is a flushed denormal, or any NaN where a NaN is expected.
  return bound > 0 && error > 0 ? error / bound : 0;
}

void judge_element(const Acceptance& acceptance, const HostTensor& got, std::int64_t i, bool is_unwritten,
                   Part& part) {
  const double value = got.at(i);
  const double error = absolute_error(acceptance.expected(i), value);
  const ElementVerdict verdict = acceptance.judge(i, value);
  OutputCheck& check = part.check;
  if (is_unwritten && verdict == ElementVerdict::Wrong) {
    check.err_over_bound = infinity;
  } else {
    check.max_abs_err = std::max(check.max_abs_err, error);
    check.err_over_bound = std::max(check.err_over_bound, share_spent(acceptance, i, error, verdict));
  }
  if (verdict == ElementVerdict::Wrong) {
    ++check.mismatches;
    note_first(check.first_bad, i);
  } else if (verdict == ElementVerdict::Flip) {
    ++check.flips;
  } else if (verdict == ElementVerdict::Tolerated) {
    ++check.tolerated;
    note_first(part.first_tolerated, i);
  }
}

void merge(Part& whole, const Part& part) {
  whole.check.mismatches += part.check.mismatches;
  whole.check.flips += part.check.flips;
  whole.check.tolerated += part.check.tolerated;
  whole.check.max_abs_err = std::max(whole.check.max_abs_err, part.check.max_abs_err);
  whole.check.err_over_bound = std::max(whole.check.err_over_bound, part.check.err_over_bound);
  note_first(whole.check.first_bad, part.check.first_bad);
  note_first(whole.first_tolerated, part.first_tolerated);
}

double over(std::int64_t count, double allowed) {
  return allowed > 0 ? static_cast<double>(count) / allowed : infinity;
}

void judge_tolerated(const Acceptance& acceptance, Part& whole) {
  OutputCheck& check = whole.check;
  const std::int64_t allowed = acceptance.allowed_tolerated();
  check.too_many_tolerated = check.tolerated > allowed;
  if (!check.too_many_tolerated) return;
  check.mismatches += check.tolerated;
  note_first(check.first_bad, whole.first_tolerated);
  check.err_over_bound = std::max(check.err_over_bound, over(check.tolerated, static_cast<double>(allowed)));
}

void judge_flips(const Acceptance& acceptance, OutputCheck& check) {
  if (check.mismatches > 0 || check.flips == 0) return;
  const double allowed = acceptance.allowed_flips();
  check.too_many_flips = static_cast<double>(check.flips) > allowed;
  check.err_over_bound = std::max(check.err_over_bound, over(check.flips, allowed));
}

}  // namespace

OutputCheck check_output(const Acceptance& acceptance, const HostTensor& got,
                         const std::function<bool(std::int64_t)>& is_unwritten) {
  const HostTensor& values = acceptance.values();
  if (got.dtype() != acceptance.dtype() || got.shape() != values.shape()) {
    throw std::logic_error("check_output: the answer's dtype or shape is not the output's");
  }
  const bool same_dtype = values.dtype() == got.dtype();
  Part whole;
  std::mutex mutex;
  parallel_for(got.numel(), judge_grain, [&](std::int64_t first, std::int64_t last) {
    if (same_dtype && same_bytes(values, got, first, last)) return;
    Part part;
    for (std::int64_t i = first; i < last; ++i) {
      judge_element(acceptance, got, i, is_unwritten && is_unwritten(i), part);
    }
    const std::lock_guard lock(mutex);
    merge(whole, part);
  });
  judge_tolerated(acceptance, whole);
  judge_flips(acceptance, whole.check);
  whole.check.pass = whole.check.mismatches == 0 && !whole.check.too_many_flips;
  return whole.check;
}

}  // namespace assay
