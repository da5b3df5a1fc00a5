#include "harness/cases/expansion/param_value.h"

#include "harness/cases/yaml/reporter.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <limits>
#include <vector>

namespace assay::cases {
namespace {

/// Returns what a list parameter accepts, with an example of the right length and range:
/// "a list of 2 integers such as [4, 4]".
std::string wanted_list(const ParamSpec& spec) {
  std::vector<std::int64_t> example{1, 16, 4, 4};
  const int length = std::max(spec.min_rank, std::min(spec.max_rank, 4));
  while (std::ssize(example) > length) example.erase(example.begin());
  while (std::ssize(example) < length) example.push_back(example.back());
  for (std::int64_t& entry : example) entry = std::clamp(entry, spec.min_integer, spec.max_integer);
  const std::string count = spec.min_rank == spec.max_rank
                                ? fmt::format("{} integer{}", spec.min_rank, spec.min_rank == 1 ? "" : "s")
                                : fmt::format("{} to {} integers", spec.min_rank, spec.max_rank);
  return fmt::format("a list of {} such as [{}]", count, fmt::join(example, ", "));
}

std::vector<std::int64_t> to_ints(const ParamSpec& spec, const Node& value, const Spot& spot,
                                  std::span<const std::string> names) {
  if (!value.is_list()) wrong_type(value, spot, wanted_list(spec), names);
  const auto is_list = [](const Node* item) { return item->is_list(); };
  if (!value.items.empty() && std::ranges::all_of(value.items, is_list))
    wrong_value(value, spot, wanted_list(spec));
  std::vector<std::int64_t> entries(value.items.size());
  Problems problems;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    problems.attempt([&] {
      entries[i] = to_integer(*value.items[i], {spot.caret, fmt::format("{}[{}]", spot.name, i)});
    });
  }
  problems.settle();
  return entries;
}

const Node& member(const Node& map, const std::string& key, const Spot& spot) {
  const Node* value = map.find(key);
  if (value == nullptr)
    throw Problem(diagnose(*spot.caret, fmt::format("'{}' is missing its '{}'", spot.name, key)));
  return *value;
}

std::int32_t to_zero_point(const ParamSpec& spec, const Node& value, const Spot& spot) {
  const std::int64_t zero_point = to_integer(value, spot);
  constexpr std::int64_t low = std::numeric_limits<std::int32_t>::min();
  constexpr std::int64_t high = std::numeric_limits<std::int32_t>::max();
  if (zero_point < low || zero_point > high) {
    throw Problem(diagnose(*spot.caret, fmt::format("{} must be between {} and {}, got {}", spot.name,
                                                    spec.zero_point_min, spec.zero_point_max, zero_point)));
  }
  return static_cast<std::int32_t>(zero_point);
}

QParams to_qparams(const ParamSpec& spec, const Origin& origin, std::span<const std::string> names) {
  static const std::array<std::string, 2> keys{"scale", "zero_point"};
  const Node& map = *origin.value;
  const Spot spot{origin.caret, spec.name};
  if (!map.is_map()) wrong_value(map, spot, "a map {scale: ..., zero_point: ...}", names);
  QParams qparams;
  Problems problems;
  const bool knows_keys = problems.attempt([&] { check_keys(map, keys); });
  const auto read = [&](const std::string& key, const auto& convert) {
    // A key that is not known may be a misspelling of one that seems to be missing.
    if (!knows_keys && map.find(key) == nullptr) return;
    problems.attempt([&] {
      const Node& value = member(map, key, spot);
      convert(value, Spot{map.find_entry(key)->key, spec.name + "." + key});
    });
  };
  read(keys[0], [&](const Node& value, const Spot& at) { qparams.scale = to_float32(value, at); });
  read(keys[1],
       [&](const Node& value, const Spot& at) { qparams.zero_point = to_zero_point(spec, value, at); });
  problems.settle();
  return qparams;
}

std::string to_choice(const ParamSpec& spec, const Node& value, const Spot& spot,
                      std::span<const std::string> names) {
  std::vector<std::string> known = spec.choices;
  known.insert(known.end(), names.begin(), names.end());
  for (const std::string& choice : spec.choices) {
    if (value.is_scalar() && value.text == choice) return choice;
  }
  wrong_value(value, spot, fmt::format("one of {}", fmt::join(spec.choices, ", ")), known);
}

Value convert(const ParamSpec& spec, const Origin& origin, std::span<const std::string> names) {
  const Node& value = *origin.value;
  const Spot spot{origin.caret, spec.name};
  const bool is_text = value.is_scalar() && !as_number(value) && !as_boolean(value);
  switch (spec.kind) {
    case ParamSpec::Kind::Shape:
    case ParamSpec::Kind::Ints:
      return to_ints(spec, value, spot, names);
    case ParamSpec::Kind::Integer:
      if (is_text || value.is_list()) wrong_value(value, spot, "a 64-bit decimal integer", names);
      return to_integer(value, spot);
    case ParamSpec::Kind::Number:
      if (is_text || value.is_list()) wrong_value(value, spot, "a finite decimal number", names);
      return to_number(value, spot);
    case ParamSpec::Kind::Boolean:
      if (value.is_list()) wrong_value(value, spot, "true or false", names);
      return to_boolean(value, spot);
    case ParamSpec::Kind::Choice:
      return to_choice(spec, value, spot, names);
    case ParamSpec::Kind::QParams:
      return to_qparams(spec, origin, names);
  }
  return {};
}

}  // namespace

Value to_value(const ParamSpec& spec, const Origin& origin, std::span<const std::string> names_of_sets) {
  Value value = convert(spec, origin, names_of_sets);
  const auto check = [&](const Value& checked) {
    try {
      spec.check(checked);
    } catch (const ParameterError& error) {
      throw problem_of(error, spec.name, origin);
    }
  };
  Problems problems;
  if (const auto* qparams = std::get_if<QParams>(&value)) {  // each half for itself
    const auto good_zero_point = static_cast<std::int32_t>(spec.zero_point_min);
    problems.attempt([&] { check(QParams{qparams->scale, good_zero_point}); });
    problems.attempt([&] { check(QParams{1, qparams->zero_point}); });
  } else {
    check(value);
  }
  problems.settle();
  return value;
}

Problem problem_of(const ParameterError& error, const std::string& name, const Origin& origin) {
  const Node* caret = origin.caret;
  if (error.parameter().starts_with(name + ".") && origin.value->is_map()) {
    const Node::Entry* inner = origin.value->find_entry(error.parameter().substr(name.size() + 1));
    if (inner != nullptr) caret = inner->key;
  }
  return Problem(diagnose(*caret, error.what()));
}

}  // namespace assay::cases
