#include "harness/engine/accuracy/output_check.h"

#include "harness/base/parallel.h"
#include "harness/engine/diagnosis/diagnose.h"
#include "harness/engine/diagnosis/evidence.h"
#include "harness/tensor/dtype.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
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
  if (std::isinf(bound)) return expected == value || std::isnan(value);
  return expected == value || absolute_error(expected, value) <= bound;
}

/// Whether a value is the infinity that a number becomes which a float dtype cannot hold: references may
/// expect such in float64.
bool is_overflow(double expected, double value, DType dtype) {
  if (!std::isinf(value) || !std::isfinite(expected)) return false;
  const auto single = static_cast<float>(expected);
  return value == (dtype == DType::F16 ? to_float(to_half(single)) : single);
}

/// An entry of a list that may be empty; then 0.
double entry(const std::vector<float>& list, std::int64_t index) {
  return list.empty() ? 0 : list[static_cast<std::size_t>(index)];
}

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t judge_grain = 1 << 16;
constexpr std::int64_t block_elements = 1 << 10;  // compared bit by bit before they are judged one by one

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
  if (verdict == ElementVerdict::Wrong) {
    return std::isfinite(bound) && bound > 0 && error > 0 ? error / bound : infinity;
  }
  // An element is right without a bound if it is a flushed denormal, or any NaN where a NaN is expected.
  return bound > 0 && error > 0 ? error / bound : 0;
}

void judge_element(const Acceptance& acceptance, const HostTensor& got, std::int64_t i, bool is_unwritten,
                   Part& part) {
  const double value = got.at(i);
  const ElementVerdict verdict = acceptance.judge(i, got);
  // A NaN that was expected, or the infinity of a number that is too large.
  const bool is_no_number = verdict == ElementVerdict::Right && !std::isfinite(value);
  const double error = is_no_number ? 0 : absolute_error(acceptance.expected(i), value);
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

/// Judges an element of an output that is bounded alone if it is a number within its bound; returns false if
/// it is not.
bool judge_number(const Acceptance& acceptance, std::int64_t i, double want, double value,
                  OutputCheck& check) {
  const double error = std::fabs(value - want);
  const double bound = acceptance.bound(i);
  if (!(error <= bound) || bound == infinity) return false;
  check.max_abs_err = std::max(check.max_abs_err, error);
  if (error > 0) check.err_over_bound = std::max(check.err_over_bound, error / bound);
  return true;
}

/// What is compared: an answer, and how its elements are accepted.
struct Judged {
  const Acceptance& acceptance;
  const HostTensor& got;
  const std::function<bool(std::int64_t)>& is_unwritten;

  bool is_unwritten_at(std::int64_t i) const { return is_unwritten && is_unwritten(i); }
};

/// At most block_elements.
void judge_block(const Judged& judged, std::int64_t first, std::int64_t last, Part& part) {
  const HostTensor& values = judged.acceptance.values();
  if (values.dtype() == judged.got.dtype() && same_bytes(values, judged.got, first, last)) return;
  if (!judged.acceptance.is_bounded_alone()) {
    for (std::int64_t i = first; i < last; ++i)
      judge_element(judged.acceptance, judged.got, i, judged.is_unwritten_at(i), part);
    return;
  }
  std::array<double, block_elements> want, value;
  const auto count = static_cast<std::size_t>(last - first);
  values.widen(first, std::span(want).first(count));
  judged.got.widen(first, std::span(value).first(count));
  for (std::size_t k = 0; k < count; ++k) {
    const std::int64_t i = first + static_cast<std::int64_t>(k);
    if (!judge_number(judged.acceptance, i, want[k], value[k], part.check))
      judge_element(judged.acceptance, judged.got, i, judged.is_unwritten_at(i), part);
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

constexpr std::int64_t most_kept = 1'000'000;

/// The wrong elements: all of them, or every n-th if there are more than `most_kept`.
struct Found {
  std::vector<std::int64_t> wrong;
  std::int64_t count = 0;
  std::optional<std::int64_t> first, worst;
  double largest_error = -1;
};

bool is_wrong(const WrongElements& of, ElementVerdict verdict) {
  return of.check.is_bad(verdict) || (of.check.too_many_flips && verdict == ElementVerdict::Flip);
}

void add(Found& found, const WrongElements& of, std::int64_t i, std::int64_t step) {
  if (!found.first) found.first = i;
  if (found.count++ % step == 0) found.wrong.push_back(i);
  if (of.is_unwritten && of.is_unwritten(i)) return;  // its value is poison, not an error
  const double error = absolute_error(of.accepted.expected(i), of.got.at(i));
  if (error <= found.largest_error) return;
  found.largest_error = error;
  found.worst = i;
}

Found find(const WrongElements& of) {
  const std::int64_t all = of.check.too_many_flips ? of.check.flips : of.check.mismatches;
  const std::int64_t step = std::max<std::int64_t>(1, div_up(all, most_kept));
  const HostTensor& values = of.accepted.values();
  const bool same_dtype = values.dtype() == of.got.dtype();
  Found found;
  for (std::int64_t i = 0; i < of.got.numel(); ++i) {
    if (same_dtype && same_bytes(values, of.got, i, i + 1)) continue;
    if (is_wrong(of, of.accepted.judge(i, of.got))) add(found, of, i, step);
  }
  return found;
}

/// Whether more of the wrong elements differ between the runs, though they were written, than a diagnosis may
/// leave unexplained. The metric then says what they depend on.
bool are_unstable(const WrongElements& of, const Found& found) {
  if (!of.is_unstable) return false;
  const auto unstable = std::ranges::count_if(found.wrong, [&](std::int64_t i) {
    return of.is_unstable(i) && !(of.is_unwritten && of.is_unwritten(i));
  });
  return static_cast<double>(unstable) > (1 - least_share) * static_cast<double>(found.wrong.size());
}

WrongElement describe(const WrongElements& of, std::int64_t index, ReferenceProbe& probe) {
  WrongElement element;
  element.at = coordinates(of.got.shape(), index);
  element.expected = of.accepted.expected(index);
  element.got = of.got.at(index);
  element.bound = of.accepted.bound(index);
  element.unwritten = of.is_unwritten && of.is_unwritten(index);
  const double error = absolute_error(element.expected, element.got);
  const double ulp = unit_in_last_place(of.got.dtype(), element.expected);
  if (element.unwritten) {
    element.got = 0;
  } else if (std::isfinite(error)) {
    element.relative = element.expected == 0 ? 0 : error / std::fabs(element.expected);
    element.ulp = ulp > 0 ? error / ulp : 0;
  }
  const std::vector<double>& unrounded = of.data.expected[of.output].unrounded;
  if (!unrounded.empty()) element.before_rounding = unrounded[static_cast<std::size_t>(index)];
  element.made_from = made_from(of.test_case, probe, index);
  return element;
}

constexpr std::int64_t max_across = 64;
constexpr std::int64_t max_down = 16;

struct Tile {
  std::int64_t elements = 0;
  std::int64_t bad = 0;
};

char symbol(const Tile& tile) {
  if (tile.bad == 0) return '.';
  if (tile.bad == tile.elements) return '#';
  const std::int64_t tenths = tile.bad * 10 / tile.elements;
  return static_cast<char>('0' + std::clamp<std::int64_t>(tenths, 1, 9));
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

ElementVerdict Acceptance::judge(std::int64_t index, const HostTensor& got) const {
  if (!is_kept(index)) return judge(index, got.at(index));
  return same_bytes(*values_, got, index, index + 1) ? ElementVerdict::Right : ElementVerdict::Wrong;
}

ElementVerdict Acceptance::judge(std::int64_t index, double value) const {
  const double want = expected(index);
  if (is_right(index, want, value)) return ElementVerdict::Right;
  if (class_ == OutputClass::Banded && is_flip(index, want, value)) return ElementVerdict::Flip;
  if (is_loosened_ && absolute_error(want, value) <= tolerance_bound(want)) return ElementVerdict::Tolerated;
  return ElementVerdict::Wrong;
}

bool Acceptance::is_right(std::int64_t index, double want, double value) const {
  if (class_ == OutputClass::Bounded)
    return within_bound(want, value, class_bound(index)) || is_overflow(want, value, dtype_);
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
  return unit_error_.of_magnitude * entry(expected_->magnitude, index) * tolerance_.scale;
}

double Acceptance::class_bound(std::int64_t index) const {
  if (class_ != OutputClass::Bounded) return 0;
  const double whole = entry(expected_->bound, index) +
                       unit_error_.of_magnitude * entry(expected_->magnitude, index) +
                       unit_error_.of_sums * entry(expected_->sums, index);
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
  if (!is_loosened_) return class_bound(index);
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

OutputCheck check_output(const Acceptance& acceptance, const HostTensor& got,
                         const std::function<bool(std::int64_t)>& is_unwritten) {
  const HostTensor& values = acceptance.values();
  if (got.dtype() != acceptance.dtype() || got.shape() != values.shape()) {
    throw std::logic_error("check_output: the answer's dtype or shape is not the output's");
  }
  const Judged judged{acceptance, got, is_unwritten};
  Part whole;
  std::mutex mutex;
  parallel_for(got.numel(), judge_grain, [&](std::int64_t first, std::int64_t last) {
    Part part;
    for (std::int64_t i = first; i < last; i += block_elements)
      judge_block(judged, i, std::min(i + block_elements, last), part);
    const std::lock_guard lock(mutex);
    merge(whole, part);
  });
  judge_tolerated(acceptance, whole);
  judge_flips(acceptance, whole.check);
  whole.check.pass = whole.check.mismatches == 0 && !whole.check.too_many_flips;
  return whole.check;
}

void add_evidence(const WrongElements& of, AccuracyResult& result) {
  Found found = find(of);
  if (!found.first) return;
  // Each probe has its own budget, so that the result does not depend on earlier findings.
  ReferenceProbe of_first(of.test_case, of.data.inputs, of.output);
  result.first = describe(of, *found.first, of_first);
  if (found.worst && found.worst != found.first) {
    ReferenceProbe of_worst(of.test_case, of.data.inputs, of.output);
    result.worst = describe(of, *found.worst, of_worst);
  }
  if (are_unstable(of, found)) return;
  const WrongOutput output({.test_case = of.test_case,
                            .inputs = of.data.inputs,
                            .tensor = of.tensor,
                            .expected = of.accepted.values(),
                            .got = of.got,
                            .wrong = std::move(found.wrong),
                            .all_wrong = found.count,
                            .bound = [&](std::int64_t i) { return of.accepted.bound(i); },
                            .is_unwritten = of.is_unwritten});
  ReferenceProbe probe(of.test_case, of.data.inputs, of.output);
  result.diagnosis = diagnose(output, probe);
}

std::string tile_map(const Shape& shape, const std::function<bool(std::int64_t)>& is_bad) {
  const std::int64_t width = shape.back();
  const std::int64_t rows = numel(shape) / width;
  const std::int64_t tile_width = div_up(width, max_across);
  const std::int64_t tile_height = div_up(rows, max_down);
  const std::int64_t across = div_up(width, tile_width);
  std::vector<Tile> tiles(static_cast<std::size_t>(across * div_up(rows, tile_height)));
  for (std::int64_t i = 0; i < rows * width; ++i) {
    Tile& tile = tiles[static_cast<std::size_t>(i / width / tile_height * across + i % width / tile_width)];
    ++tile.elements;
    if (is_bad(i)) ++tile.bad;
  }
  std::string text =
      fmt::format("errors by tile of {} row{} x {} column{} of {} x {}", tile_height,
                  tile_height == 1 ? "" : "s", tile_width, tile_width == 1 ? "" : "s", rows, width);
  text += " ('.' none wrong, '1'-'9' tenths wrong, '#' all)";
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    if (static_cast<std::int64_t>(i) % across == 0) text += "\n";
    text += symbol(tiles[i]);
  }
  return text;
}

}  // namespace assay
