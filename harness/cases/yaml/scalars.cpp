#include "harness/cases/yaml/scalars.h"

#include "harness/base/text.h"
#include "harness/cases/yaml/nearest.h"
#include "harness/cases/yaml/reporter.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <vector>

namespace assay::cases {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Returns the text of a plain scalar without a leading '+'.
std::string_view plain_text(const Node& value) {
  if (!value.is_scalar() || value.quoted) return {};
  std::string_view text = value.text;
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  return text;
}

template <class T>
std::optional<T> parse_whole(std::string_view text) {
  T result{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return result;
}

bool has_leading_zero(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return text.size() > 1 && text[0] == '0' && is_digit(text[1]);
}

template <class T>
std::optional<T> parse_finite(std::string_view text) {
  const bool is_decimal = std::all_of(text.begin(), text.end(), [](char c) {
    return is_digit(c) || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
  });
  if (!is_decimal || has_leading_zero(text)) return std::nullopt;
  const std::optional<T> number = parse_whole<T>(text);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

/// Returns a value as one line of YAML.
std::string flow_text(const Node& value) {
  if (value.is_scalar()) return printable_line(value.text);
  std::vector<std::string> parts;
  for (const Node* item : value.items) parts.push_back(flow_text(*item));
  for (const Node::Entry& entry : value.entries)
    parts.push_back(flow_text(*entry.key) + ": " + flow_text(*entry.value));
  const std::string inside = fmt::format("{}", fmt::join(parts, ", "));
  return value.is_map() ? "{" + inside + "}" : "[" + inside + "]";
}

/// What was found where `wanted` was: of a list that has the wrong length, its length.
std::string found_text(const Node& value, std::string_view wanted) {
  const bool has_wrong_length = value.is_list() && !value.items.empty() && wanted.starts_with("a list");
  return has_wrong_length ? fmt::format("a list of {}", value.items.size()) : describe(value);
}

}  // namespace

std::optional<std::int64_t> as_integer(const Node& value) {
  const std::string_view text = plain_text(value);
  return has_leading_zero(text) ? std::nullopt : parse_whole<std::int64_t>(text);
}

std::optional<std::uint64_t> as_unsigned(const Node& value) {
  const std::string_view text = plain_text(value);
  return has_leading_zero(text) ? std::nullopt : parse_whole<std::uint64_t>(text);
}

std::optional<double> as_number(const Node& value) {
  return parse_finite<double>(plain_text(value));
}

std::optional<float> as_float(const Node& value) {
  return parse_finite<float>(plain_text(value));
}

std::optional<bool> as_boolean(const Node& value) {
  if (value.is_plain("true")) return true;
  if (value.is_plain("false")) return false;
  return std::nullopt;
}

void wrong_type(const Node& value, const Spot& spot, std::string_view wanted,
                std::span<const std::string> known) {
  const std::string name = printable_line(spot.name);
  if (value.is_null()) throw Problem(diagnose(*spot.caret, fmt::format("'{}' has no value", name)));
  static const std::string each[] = {"each"};
  std::string suggestion;
  if (value.is_scalar()) suggestion = nearest(value.text, known);
  if (value.is_map() && value.entries.size() == 1) suggestion = nearest(value.entries[0].key->text, each);
  const std::string message = fmt::format("'{}' must be {}, got {}", name, wanted, found_text(value, wanted));
  throw Problem(diagnose(*spot.caret, message, suggestion));
}

void wrong_value(const Node& value, const Spot& spot, std::string_view wanted,
                 std::span<const std::string> known) {
  if (!value.is_list() || value.items.empty()) wrong_type(value, spot, wanted, known);
  constexpr std::size_t longest = 60, most_nodes = 30;
  std::string values = value.weight > most_nodes ? "" : flow_text(value);
  if (values.empty() || values.size() > longest) values = "[...]";
  const std::string name = printable_line(spot.name);
  throw Problem(
      diagnose(*spot.caret,
               fmt::format("'{}' must be {}, got {}; put several values, one case each, under 'each'", name,
                           wanted, describe(value)),
               fmt::format("{}: {{each: {}}}", name, values)));
}

std::int64_t to_integer(const Node& value, const Spot& spot) {
  if (const auto integer = as_integer(value)) return *integer;
  wrong_type(value, spot, "a 64-bit decimal integer");
}

std::uint64_t to_unsigned(const Node& value, const Spot& spot) {
  if (const auto integer = as_unsigned(value)) return *integer;
  wrong_type(value, spot, "a decimal integer from 0 to 18446744073709551615");
}

double to_number(const Node& value, const Spot& spot) {
  if (const auto number = as_number(value)) return *number;
  wrong_type(value, spot, "a finite decimal number");
}

float to_float32(const Node& value, const Spot& spot) {
  if (const auto number = as_float(value)) return *number;
  wrong_type(value, spot, "a finite decimal number that a 32-bit float can hold");
}

bool to_boolean(const Node& value, const Spot& spot) {
  if (const auto boolean = as_boolean(value)) return *boolean;
  static const std::string known[] = {"true", "false"};
  wrong_type(value, spot, "true or false", known);
}

const std::string& to_text(const Node& value, const Spot& spot) {
  if (!value.is_scalar()) wrong_type(value, spot, "text");
  return value.text;
}

Problem unknown_name(const Node& caret, std::string_view what, std::string_view name,
                     std::span<const std::string> known) {
  constexpr std::size_t longest = 60, most_listed = 32;
  std::string message = fmt::format("unknown {} '{}'", what, printable_line(name.substr(0, longest)));
  std::string suggestion = nearest(name, known);
  if (suggestion.empty() && !known.empty() && known.size() <= most_listed) {
    message += fmt::format("; known: {}", fmt::join(known, ", "));
  }
  return Problem(diagnose(caret, std::move(message), std::move(suggestion)));
}

void check_keys(const Node& map, std::span<const std::string> known) {
  Problems problems;
  for (const Node::Entry& entry : map.entries) {
    if (std::find(known.begin(), known.end(), entry.key->text) == known.end())
      problems.add(unknown_name(*entry.key, "key", entry.key->text, known));
  }
  problems.settle();
}

const Node::Entry& required(const Node& map, const std::string& key, const Node& caret,
                            const std::string& of) {
  const Node::Entry* entry = map.find_entry(key);
  if (entry == nullptr) throw Problem(diagnose(caret, fmt::format("{} has no '{}'", of, key)));
  return *entry;
}

}  // namespace assay::cases
