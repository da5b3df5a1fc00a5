#include "harness/op/params.h"

#include "harness/base/error.h"
#include "harness/tensor/tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <stdexcept>

namespace assay {
namespace {

struct ToText {
  std::string operator()(std::int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return fmt::format("{}", value); }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(const std::string& value) const { return value; }
  std::string operator()(const std::vector<std::int64_t>& value) const { return assay::to_string(value); }
  std::string operator()(const QParams& value) const {
    return fmt::format("{}:{}", value.scale, value.zero_point);
  }
};

/// Returns the value with that name and type. A wrong type is a bug in the op, not in a case file.
template <class T>
const T& get(const Params& params, std::string_view name, std::string_view type) {
  if (const T* value = std::get_if<T>(&params.at(name))) return *value;
  throw std::logic_error(
      fmt::format("parameter {}={} was read as {}", name, to_string(params.at(name)), type));
}

}  // namespace

std::string to_string(const Value& value) {
  return std::visit(ToText{}, value);
}

bool Params::has(std::string_view name) const {
  return values_.find(name) != values_.end();
}

const Value& Params::at(std::string_view name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) throw std::logic_error(fmt::format("there is no parameter {}", name));
  return found->second;
}

std::int64_t Params::integer(std::string_view name) const {
  return get<std::int64_t>(*this, name, "an integer");
}

double Params::number(std::string_view name) const {
  return get<double>(*this, name, "a number");
}

bool Params::boolean(std::string_view name) const {
  return get<bool>(*this, name, "a boolean");
}

const std::string& Params::choice(std::string_view name) const {
  return get<std::string>(*this, name, "a choice");
}

const std::vector<std::int64_t>& Params::ints(std::string_view name) const {
  return get<std::vector<std::int64_t>>(*this, name, "a list of integers");
}

const QParams& Params::qparams(std::string_view name) const {
  return get<QParams>(*this, name, "qparams");
}

std::string Params::canonical() const {
  std::string text;
  for (const auto& [name, value] : values_) {
    if (!text.empty()) text += ' ';
    text += fmt::format("{}={}", name, to_string(value));
  }
  return text;
}

// The checks of ParamSpec, and the functions that declare parameters.

namespace {

[[noreturn]] void reject(const std::string& parameter, const std::string& why) {
  throw ParameterError(parameter, fmt::format("{} {}", parameter, why));
}

/// Returns the value as a T. Throws the error that says what it should have been.
template <class T>
const T& expect(const ParamSpec& spec, const Value& value, std::string_view what) {
  if (const T* typed = std::get_if<T>(&value)) return *typed;
  reject(spec.name, fmt::format("must be {}, got {}", what, to_string(value)));
}

/// Returns "at least 1", "at most 4" or "between 1 and 4". A side that is int32's own limit is omitted.
std::string range_text(std::int64_t low, std::int64_t high) {
  const bool no_low = low == std::numeric_limits<std::int32_t>::min();
  const bool no_high = high == std::numeric_limits<std::int32_t>::max();
  if (no_high && !no_low) return fmt::format("at least {}", low);
  if (no_low && !no_high) return fmt::format("at most {}", high);
  return fmt::format("between {} and {}", low, high);
}

void check_integer(const std::string& parameter, std::int64_t value, std::int64_t low, std::int64_t high) {
  if (value >= low && value <= high) return;
  // A value outside int32 breaks a limit that range_text omits.
  const bool beyond_int32 =
      value > std::numeric_limits<std::int32_t>::max() || value < std::numeric_limits<std::int32_t>::min();
  const std::string range =
      beyond_int32 ? fmt::format("between {} and {}", low, high) : range_text(low, high);
  reject(parameter, fmt::format("must be {}, got {}", range, value));
}

void check_rank(const ParamSpec& spec, std::size_t rank, std::string_view test_case, std::string_view many) {
  const auto low = static_cast<std::size_t>(spec.min_rank);
  const auto high = static_cast<std::size_t>(spec.max_rank);
  if (rank >= low && rank <= high) return;
  const std::string possible =
      low == high ? fmt::format("it must have {}", low) : fmt::format("{} to {} are possible", low, high);
  reject(spec.name, fmt::format("has {} {}; {}", rank, rank == 1 ? test_case : many, possible));
}

void check_entries(const ParamSpec& spec, const std::vector<std::int64_t>& entries) {
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::int64_t entry = entries[i];
    if (entry >= spec.min_integer && entry <= spec.max_integer) continue;
    reject(spec.name, fmt::format("has {} at position {}; every entry must be between {} and {}", entry, i,
                                  spec.min_integer, spec.max_integer));
  }
}

void check_shape(const ParamSpec& spec, const Value& value) {
  const auto& dims = expect<std::vector<std::int64_t>>(spec, value, "a list of dims");
  check_rank(spec, dims.size(), "dim", "dims");
  check_entries(spec, dims);
  try {
    numel(dims);
  } catch (const Error&) {  // every dim is possible, so the product is too large
    reject(spec.name, fmt::format("{} has more than 2^40 elements", to_string(dims)));
  }
}

void check_number(const ParamSpec& spec, double value) {
  if (!std::isfinite(value)) reject(spec.name, fmt::format("must be finite, got {}", value));
  if (spec.positive && !(value > 0)) reject(spec.name, fmt::format("must be greater than 0, got {}", value));
  if (value < spec.min_number) {
    reject(spec.name, fmt::format("must be at least {}, got {}", spec.min_number, value));
  }
  if (value > spec.max_number) {
    reject(spec.name, fmt::format("must be at most {}, got {}", spec.max_number, value));
  }
}

void check_choice(const ParamSpec& spec, const std::string& value) {
  if (std::find(spec.choices.begin(), spec.choices.end(), value) != spec.choices.end()) return;
  reject(spec.name, fmt::format("must be one of {}, got {}", fmt::join(spec.choices, ", "), value));
}

void check_qparams(const ParamSpec& spec, const QParams& value) {
  if (!std::isfinite(value.scale) || !(value.scale > 0)) {
    reject(spec.name + ".scale",
           fmt::format("must be finite and greater than 0 as a 32-bit float, got {}", value.scale));
  }
  check_integer(spec.name + ".zero_point", value.zero_point, spec.zero_point_min, spec.zero_point_max);
}

ParamSpec declare(std::string name, ParamSpec::Kind kind) {
  ParamSpec spec;
  spec.name = std::move(name);
  spec.kind = kind;
  return spec;
}

}  // namespace

void ParamSpec::check(const Value& value) const {
  switch (kind) {
    case Kind::Shape:
      return check_shape(*this, value);
    case Kind::Integer:
      return check_integer(name, expect<std::int64_t>(*this, value, "an integer"), min_integer, max_integer);
    case Kind::Number:
      return check_number(*this, expect<double>(*this, value, "a number"));
    case Kind::Boolean:
      expect<bool>(*this, value, "true or false");
      return;
    case Kind::Choice:
      return check_choice(*this, expect<std::string>(*this, value, "a name"));
    case Kind::Ints: {
      const auto& entries = expect<std::vector<std::int64_t>>(*this, value, "a list of integers");
      check_rank(*this, entries.size(), "entry", "entries");
      return check_entries(*this, entries);
    }
    case Kind::QParams:
      return check_qparams(*this, expect<assay::QParams>(*this, value, "a scale and a zero point"));
  }
}

ParamSpec shape(std::string name, Rank rank) {
  ParamSpec spec = declare(std::move(name), ParamSpec::Kind::Shape);
  spec.min_rank = rank.min;
  spec.max_rank = rank.max;
  spec.min_integer = 1;
  return spec;
}

ParamSpec integer(std::string name) {
  return declare(std::move(name), ParamSpec::Kind::Integer);
}

ParamSpec number(std::string name) {
  return declare(std::move(name), ParamSpec::Kind::Number);
}

ParamSpec boolean(std::string name) {
  return declare(std::move(name), ParamSpec::Kind::Boolean);
}

ParamSpec choice(std::string name, std::vector<std::string> choices) {
  ParamSpec spec = declare(std::move(name), ParamSpec::Kind::Choice);
  spec.choices = std::move(choices);
  return spec;
}

ParamSpec ints(std::string name, Rank rank) {
  ParamSpec spec = declare(std::move(name), ParamSpec::Kind::Ints);
  spec.min_rank = rank.min;
  spec.max_rank = rank.max;
  return spec;
}

ParamSpec qparams(std::string name, std::int64_t zero_point_min, std::int64_t zero_point_max) {
  ParamSpec spec = declare(std::move(name), ParamSpec::Kind::QParams);
  spec.zero_point_min = zero_point_min;
  spec.zero_point_max = zero_point_max;
  return spec;
}

std::optional<Value> ParamSpec::default_for(const Params& earlier) const {
  return derive ? derive(earlier) : fallback;
}

}  // namespace assay
