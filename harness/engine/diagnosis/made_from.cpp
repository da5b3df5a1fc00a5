#include "harness/engine/diagnosis/made_from.h"

#include "harness/base/text.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <functional>
#include <optional>

namespace assay {
namespace {

constexpr std::size_t few = 4;

/// A different value for an input's element, valid for the op and as far away as possible.
double far_from(const TensorSpec& spec, double value, bool second) {
  if (spec.domain.role == FillRole::Scale) return second ? value / 1024 : value * 1024;
  if (spec.domain.lo < spec.domain.hi && !is_float(spec.dtype)) {
    const double near = second ? spec.domain.hi : spec.domain.lo;
    return value == near ? (second ? spec.domain.lo : spec.domain.hi) : near;
  }
  if (second) return value == 0 ? 1 : -3 * value;
  return value == 0 ? 1000 : 0;
}

/// Searches one input for the elements that one output element depends on.
class Search {
 public:
  Search(ReferenceProbe& probe, const TensorSpec& spec, std::size_t input, std::int64_t element, double now)
      : probe_(probe), here_(probe.here()), spec_(spec), input_(input), element_(element), now_(now) {}

  std::vector<std::int64_t> all() {
    const std::int64_t count = here_.inputs[input_].numel();
    for (const bool second : {false, true}) {
      second_ = second;
      if (matters(0, count)) {
        collect(0, count);
        break;
      }
    }
    if (found_.size() > few) find_last(0, count);
    return std::move(found_);
  }

 private:
  bool matters(std::int64_t first, std::int64_t last) {
    Point other = here_;
    HostTensor& tensor = other.inputs[input_];
    for (std::int64_t i = first; i < last; ++i)
      set_element(tensor, i, far_from(spec_, tensor.at(i), second_));
    const std::optional<HostTensor> answer = probe_.ask(other);
    return answer && std::bit_cast<std::uint64_t>(answer->at(element_)) != std::bit_cast<std::uint64_t>(now_);
  }

  /// Collects the elements that matter within a range that matters, until there are more than a few.
  void collect(std::int64_t first, std::int64_t last) {
    if (last - first == 1) return found_.push_back(first);
    const std::int64_t middle = first + (last - first) / 2;
    const bool left = matters(first, middle);
    if (left) collect(first, middle);
    if (found_.size() > few) return;
    if (!left || matters(middle, last)) collect(middle, last);
  }

  void find_last(std::int64_t first, std::int64_t last) {
    while (last - first > 1) {
      const std::int64_t middle = first + (last - first) / 2;
      if (matters(middle, last)) {
        first = middle;
      } else {
        last = middle;
      }
    }
    found_ = {found_.front(), first};
    is_range_ = true;
  }

 public:
  bool is_range() const { return is_range_; }

 private:
  ReferenceProbe& probe_;
  Point here_;
  const TensorSpec& spec_;
  std::size_t input_;
  std::int64_t element_;
  double now_;
  bool second_ = false;
  bool is_range_ = false;
  std::vector<std::int64_t> found_;
};

std::string element_text(const TensorSpec& spec, const HostTensor& tensor, std::int64_t index) {
  return spec.name + bracketed(coordinates(spec.shape, index)) + "=" + shortest(tensor.at(index));
}

/// The number of answers that the search of one input needs: a few bisections.
double answers_needed(const TensorSpec& spec) {
  constexpr double bisections = 16;
  return bisections * std::log2(static_cast<double>(numel(spec.shape)) + 1);
}

}  // namespace

std::vector<std::string> made_from(const Case& test_case, ReferenceProbe& probe, std::int64_t element) {
  std::vector<std::string> texts;
  const std::vector<const TensorSpec*> specs = input_specs(test_case);
  if (!probe.can_afford(1)) return texts;
  const Point here = probe.here();
  const std::optional<HostTensor> values = probe.ask(here);
  if (!values) return texts;
  for (std::size_t k = 0; k < specs.size(); ++k) {
    if (!probe.can_afford(answers_needed(*specs[k]))) return texts;
    Search search(probe, *specs[k], k, element, values->at(element));
    const std::vector<std::int64_t> found = search.all();
    if (search.is_range()) {
      texts.push_back(element_text(*specs[k], here.inputs[k], found.front()) + " to " +
                      element_text(*specs[k], here.inputs[k], found.back()));
      continue;
    }
    for (const std::int64_t i : found) texts.push_back(element_text(*specs[k], here.inputs[k], i));
  }
  return texts;
}

}  // namespace assay
