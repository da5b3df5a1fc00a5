#include "harness/engine/diagnosis/evidence.h"

#include "harness/base/error.h"
#include "harness/base/statistics.h"
#include "harness/base/text.h"
#include "harness/tensor/dtype.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <functional>
#include <optional>
#include <stdexcept>
#include <unordered_map>
#include <utility>

namespace assay {
namespace {

constexpr std::int64_t most_right = 1 << 12;
constexpr double large_integer_error = 8;
constexpr double last_places = 4;     ///< ULPs by which a prediction of a float may be off
constexpr double much_nearer = 0.25;  ///< share of the error

std::vector<std::int64_t> thinned(std::vector<std::int64_t> all, std::int64_t most) {
  const auto count = static_cast<std::int64_t>(all.size());
  if (count <= most) return all;
  std::vector<std::int64_t> some;
  for (std::int64_t i = 0; i < most; ++i) some.push_back(all[static_cast<std::size_t>(i * count / most)]);
  return some;
}

/// Elements that are not in `wrong`, which holds all wrong elements or a sample.
std::vector<std::int64_t> right_ones(std::int64_t numel, std::span<const std::int64_t> wrong,
                                     const std::function<bool(std::int64_t)>& is_right) {
  std::vector<std::int64_t> right;
  const std::int64_t step = std::max<std::int64_t>(1, numel / most_right);
  for (std::int64_t i = 0; i < numel; i += step) {
    if (is_right(i) && !std::ranges::binary_search(wrong, i)) right.push_back(i);
  }
  return right;
}

double collision_bits(std::span<const std::int64_t> wrong, const HostTensor& got) {
  std::unordered_map<std::uint64_t, double> counts;
  for (const std::int64_t i : wrong) ++counts[std::bit_cast<std::uint64_t>(got.at(i))];
  double collisions = 0;
  for (const auto& [value, count] : counts) collisions += count * count;
  const auto all = static_cast<double>(wrong.size());
  return wrong.empty() ? 0 : -std::log2(collisions / (all * all));
}

bool is_at_an_end(const WrongOutput& output, std::int64_t i) {
  const double value = output.expected(i);
  return output.is_integer() && (value <= output.lowest() || value >= output.highest());
}

/// Whether errors show at the ends of the range as well.
bool shows_at_ends(const WrongOutput& output) {
  const auto at_ends =
      std::ranges::count_if(output.wrong(), [&](std::int64_t i) { return is_at_an_end(output, i); });
  return static_cast<double>(at_ends) > (1 - least_share) * static_cast<double>(output.wrong().size());
}

constexpr double operations_of_byte = 8;  ///< estimated cost of moving a byte in a reference
/// How many answers the budget is enough for where each is a process, and how long they may take together.
constexpr double answers_of_programs = 8;
constexpr std::chrono::duration<double> time_of_programs{2};

/// The bytes that an answer moves: those of the op's work, or of all its tensors where these are more: a
/// point copies the inputs, and an answer has all elements of the outputs.
double bytes_of_answer(const Work& work, std::span<const TensorSpec> tensors) {
  std::int64_t bytes = 0;
  for (const TensorSpec& spec : tensors)
    bytes += numel(spec.shape) * static_cast<std::int64_t>(size_of(spec.dtype));
  return static_cast<double>(std::max(bytes, work.bytes_read + work.bytes_written));
}

/// Whether the op's reference is a program, of which `work` says little.
bool is_program(const Case& test_case) {
  return test_case.op->answer_version != nullptr;
}

double cost_of(const Case& test_case) {
  if (!test_case.op->work) return ReferenceProbe::default_budget;
  const Work work = test_case.op->work(test_case.params, test_case.tensors);
  const double of_work = static_cast<double>(work.operations) +
                         operations_of_byte * bytes_of_answer(work, test_case.tensors) + 1000;
  return is_program(test_case) ? std::max(of_work, ReferenceProbe::default_budget / answers_of_programs)
                               : of_work;
}

template <class T>
void store(HostTensor& tensor, std::int64_t index, double value) {
  const auto low = static_cast<double>(lowest(tensor.dtype()));
  const auto high = static_cast<double>(highest(tensor.dtype()));
  tensor.as<T>()[static_cast<std::size_t>(index)] =
      static_cast<T>(std::clamp(std::nearbyint(value), low, high));
}

const TensorSpec* spec_of_output(std::span<const TensorSpec> tensors, std::size_t output) {
  for (const TensorSpec& spec : tensors) {
    if (!spec.is_input() && output-- == 0) return &spec;
  }
  return nullptr;
}

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

WrongOutput::WrongOutput(Parts parts) : parts_(std::move(parts)) {
  parts_.wrong = thinned(std::move(parts_.wrong), most_looked_at);
  const auto is_right = [this](std::int64_t i) {
    return absolute_error(expected(i), got(i)) <= (parts_.bound ? parts_.bound(i) : 0);
  };
  right_ = right_ones(numel(), parts_.wrong, is_right);
  bits_of_element_ = collision_bits(parts_.wrong, parts_.got);
  if (!is_integer()) return;
  const FillDomain& domain = spec().domain;
  const bool has_range = domain.lo < domain.hi;
  lowest_ = has_range ? domain.lo : static_cast<double>(assay::lowest(parts_.got.dtype()));
  highest_ = has_range ? domain.hi : static_cast<double>(assay::highest(parts_.got.dtype()));
}

bool WrongOutput::explains(std::int64_t i, double predicted) const {
  const double value = got(i);
  if (std::isnan(value) || std::isnan(predicted)) return std::isnan(value) && std::isnan(predicted);
  if (value == predicted) return std::signbit(value) == std::signbit(predicted) || is_integer();
  const double distance = std::fabs(value - predicted);
  const double error = absolute_error(expected(i), value);
  if (is_integer()) return distance <= 1 && error >= large_integer_error;
  const double bound = parts_.bound ? parts_.bound(i) : 0;
  const double places = last_places * unit_in_last_place(parts_.got.dtype(), predicted);
  return distance <= std::max(bound, places) && distance <= much_nearer * error;
}

double WrongOutput::share_explained(const std::function<double(std::int64_t)>& predict) const {
  const std::span<const std::int64_t> all = wrong();
  if (all.empty()) return 0;
  constexpr std::size_t few = 64;
  std::size_t looked_at = 0, explained = 0;
  // A hypothesis that does not explain a few does not explain all, so a sample is tried first.
  const std::size_t stride = all.size() / few + 1;
  for (std::size_t k = 0; k < all.size(); k += stride, ++looked_at)
    explained += explains(all[k], predict(all[k]));
  if (stride == 1 || static_cast<double>(explained) < least_share / 2 * static_cast<double>(looked_at))
    return static_cast<double>(explained) / static_cast<double>(looked_at);
  explained = 0;
  for (const std::int64_t i : all) explained += explains(i, predict(i));
  return static_cast<double>(explained) / static_cast<double>(all.size());
}

double WrongOutput::evidence_bits(double explained, double candidates) const {
  return explained * bits_of_element_ - std::log2(std::max(1.0, candidates));
}

double PlaceEvidence::bits() const {
  const auto wrong = static_cast<std::size_t>(wrong_there);
  const std::size_t there = wrong + static_cast<std::size_t>(right_there);
  return log2_choices(there + static_cast<std::size_t>(right_elsewhere), wrong) - log2_choices(there, wrong);
}

std::string PlaceEvidence::text() const {
  const std::int64_t elsewhere = wrong_elsewhere + right_elsewhere;
  return fmt::format("; elsewhere {} of {} element{} wrong", wrong_elsewhere, elsewhere,
                     elsewhere == 1 ? " is" : "s are");
}

PlaceEvidence place_evidence(const WrongOutput& output, const std::function<bool(std::int64_t)>& is_there) {
  PlaceEvidence evidence;
  for (const std::int64_t i : output.wrong())
    ++(is_there(i) ? evidence.wrong_there : evidence.wrong_elsewhere);
  const bool count_ends = shows_at_ends(output);
  for (const std::int64_t i : output.right()) {
    if (is_there(i)) {
      ++evidence.right_there;
    } else if (count_ends || !is_at_an_end(output, i)) {
      ++evidence.right_elsewhere;
    }
  }
  return evidence;
}

namespace {

/// A reference reads where an index says: outside of its domain that is outside of a tensor.
bool has_indices_of(const FillDomain& domain, const HostTensor& tensor) {
  if (domain.role != FillRole::Index) return true;
  for (std::int64_t i = 0; i < tensor.numel(); ++i) {
    if (tensor.at(i) < domain.lo || tensor.at(i) > domain.hi) return false;
  }
  return true;
}

}  // namespace

ReferenceProbe::ReferenceProbe(const Case& test_case, std::span<const HostTensor> inputs, std::size_t output,
                               double budget)
    : case_(&test_case), inputs_(inputs), output_(output), cost_(cost_of(test_case)), budget_(budget) {
  if (const TensorSpec* spec = spec_of_output(test_case.tensors, output)) shape_ = spec->shape;
}

Point ReferenceProbe::here() const {
  return {case_->params, {inputs_.begin(), inputs_.end()}};
}

/// Whether the op accepts the point's inputs with its parameters.
bool ReferenceProbe::fits(const Point& point) const {
  const std::vector<TensorSpec> tensors = case_->op->tensors(point.params);
  std::size_t input = 0;
  for (const TensorSpec& spec : tensors) {
    if (!spec.is_input()) continue;
    if (input >= point.inputs.size()) return false;
    const HostTensor& tensor = point.inputs[input++];
    if (tensor.shape() != spec.shape || tensor.dtype() != spec.dtype) return false;
    if (!has_indices_of(spec.domain, tensor)) return false;
  }
  return input == point.inputs.size();
}

/// A program that is slow costs more than its declared work, whether it answers or fails.
std::vector<Expected> ReferenceProbe::timed_reference(const Point& point) {
  if (!is_program(*case_)) return case_->op->reference(point.params, point.inputs);
  const auto began = std::chrono::steady_clock::now();
  const auto spend = [&] {
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - began;
    budget_ -= std::max(0.0, default_budget * (time / time_of_programs) - cost_);
  };
  try {
    std::vector<Expected> expected = case_->op->reference(point.params, point.inputs);
    spend();
    return expected;
  } catch (...) {
    spend();
    throw;
  }
}

std::optional<HostTensor> ReferenceProbe::ask(const Point& point) {
  if (!can_afford(1)) return std::nullopt;
  try {
    if (!fits(point)) return std::nullopt;
    budget_ -= cost_;
    const std::vector<Expected> expected = timed_reference(point);
    if (output_ >= expected.size()) return std::nullopt;
    return cropped(expected[output_].values, shape_);
  } catch (const Error&) {  // parameters that make no sense together
    return std::nullopt;
  } catch (const std::logic_error&) {  // parameters that the op does not have
    return std::nullopt;
  }
}

std::optional<HostTensor> cropped(const HostTensor& tensor, const Shape& shape) {
  if (tensor.shape() == shape) return tensor;
  if (tensor.shape().size() != shape.size()) return std::nullopt;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (tensor.shape()[d] < shape[d]) return std::nullopt;
  }
  HostTensor part(DType::F64, shape);
  const std::span<double> values = part.as<double>();
  for (std::int64_t i = 0; i < part.numel(); ++i) {
    std::int64_t from = 0;
    const std::vector<std::int64_t> at = coordinates(shape, i);
    for (std::size_t d = 0; d < shape.size(); ++d) from = from * tensor.shape()[d] + at[d];
    values[static_cast<std::size_t>(i)] = tensor.at(from);
  }
  return part;
}

void set_element(HostTensor& tensor, std::int64_t index, double value) {
  const auto at = static_cast<std::size_t>(index);
  switch (tensor.dtype()) {
    case DType::F32:
      tensor.as<float>()[at] = static_cast<float>(value);
      return;
    case DType::F16:
      tensor.as<Half>()[at] = to_half(static_cast<float>(value));
      return;
    case DType::F64:
      tensor.as<double>()[at] = value;
      return;
    case DType::I32:
      return store<std::int32_t>(tensor, index, value);
    case DType::I16:
      return store<std::int16_t>(tensor, index, value);
    case DType::I8:
      return store<std::int8_t>(tensor, index, value);
    case DType::U8:
      return store<std::uint8_t>(tensor, index, value);
    case DType::I64:
      tensor.as<std::int64_t>()[at] = static_cast<std::int64_t>(std::nearbyint(value));
      return;
  }
  throw std::logic_error("set_element: not a dtype");
}

std::vector<const TensorSpec*> input_specs(const Case& test_case) {
  std::vector<const TensorSpec*> specs;
  for (const TensorSpec& spec : test_case.tensors) {
    if (spec.is_input()) specs.push_back(&spec);
  }
  return specs;
}

double zero_of_input(const Case& test_case, const Point& point, std::size_t input, std::int64_t index) {
  constexpr double two_zero_nibbles = 0x88;
  const std::vector<const TensorSpec*> specs = input_specs(test_case);
  const TensorSpec& spec = *specs[input];
  if (is_float(spec.dtype)) return 0;
  if (point.params.has(spec.name) && std::holds_alternative<QParams>(point.params.at(spec.name)))
    return point.params.qparams(spec.name).zero_point;
  for (std::size_t k = 0; k < specs.size(); ++k) {
    if (specs[k]->name != spec.name + "_zero_point") continue;
    // One zero point per leading index: rows. Where they are other ones, what is zero is not known.
    const std::int64_t zero_points = numel(specs[k]->shape);
    const std::int64_t values = numel(spec.shape);
    if (zero_points < 1 || zero_points > values || values % zero_points != 0) return 0;
    return point.inputs[k].at(index / (values / zero_points));
  }
  return spec.constant && spec.dtype == DType::U8 ? two_zero_nibbles : 0;
}

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
